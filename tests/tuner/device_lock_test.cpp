// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/device_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace tunesmith {
namespace {

class DeviceLockTest : public testing::Test {
 protected:
  DeviceLockTest() {
    std::string name = (std::filesystem::temp_directory_path() / "device_lock_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~DeviceLockTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(DeviceLockTest, HasOneHolderForEachGpu) {
  DeviceLock other_gpu(folder_, "GPU-2");
  EXPECT_TRUE(other_gpu.take());
  {
    DeviceLock first(folder_, "GPU-1");
    EXPECT_TRUE(first.take());
    DeviceLock second(folder_, "GPU-1");
    EXPECT_FALSE(second.take());
    const DeviceLock moved(std::move(first));
    EXPECT_FALSE(second.take());
  }
  EXPECT_TRUE(DeviceLock(folder_, "GPU-1").take());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "tunesmith-GPU-1.lock"));
}

TEST_F(DeviceLockTest, EndsWithItsProcessHoweverThatEnds) {
  std::array<int, 2> ready = {};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    DeviceLock lock(folder_, "GPU-1");
    const char taken = lock.take() ? 'y' : 'n';
    static_cast<void>(!::write(ready[1], &taken, 1));
    ::pause();
    ::_exit(0);
  }
  char taken = 'n';
  ASSERT_EQ(::read(ready[0], &taken, 1), 1);
  EXPECT_EQ(taken, 'y');
  DeviceLock lock(folder_, "GPU-1");
  EXPECT_FALSE(lock.take());
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_TRUE(lock.take());
}

// Everybody may write in the folder: files there are neither followed nor waited for.
TEST_F(DeviceLockTest, WhatIsNoFileOfLocksHoldsNobodyUp) {
  std::ofstream(folder_ / "precious") << "content";
  std::filesystem::create_symlink(folder_ / "precious", folder_ / "tunesmith-GPU-1.lock");
  std::filesystem::create_directory(folder_ / "tunesmith-GPU-2.lock");
  for (const char* uuid : {"GPU-1", "GPU-2", "GPU-../x"})
    EXPECT_TRUE(DeviceLock(folder_, uuid).take()) << uuid;
  EXPECT_TRUE(DeviceLock(folder_ / "missing", "GPU-1").take());
  EXPECT_EQ(std::filesystem::file_size(folder_ / "precious"), 7U);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "tunesmith-GPU----x.lock"));
}

}  // namespace
}  // namespace tunesmith
