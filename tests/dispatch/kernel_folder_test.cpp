// SPDX-License-Identifier: Apache-2.0
// Tests a user's own kernel that is exported for a GPU that this machine lacks: its kernels are compiled, and
// an application on that GPU would find them.
#include "dispatch/kernel_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/export_kernel.h"
#include "dispatch/packed.h"
#include "dispatch/tuning_data.h"
#include "fixture.h"
#include "kernel_file/add.h"
#include "kernel_file/read.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

// y = 3 x
std::string text_of(const std::string& name) {
  return "/* tunesmith\nname = \"" + name +
         "\"\n[problem]\nn = [1, 100000]\n[arrays]\nx = [\"n\"]\ny = { extents = [\"n\"], role = \"output\" "
         "}\n"
         "[axes]\nBLOCK = [64, 128]\n[launch]\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n*/\n"
         "__global__ void thrice(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) y[i] = 3 * x[i];\n}\n";
}

class KernelFolder : public DispatcherTest {
 protected:
  KernelFolder() {
    static int count = 0;  // a process has an op from only one file
    name_ = "thrice" + std::to_string(++count);
    std::ofstream(file()) << text_of(name_);
    const Op& op = add_user_kernel(read_kernel_file(file())).op;
    template_ = op.templates.front().name;
    tune({.op = name_,
          .problem = "n=1000",
          .template_name = template_,
          .config = "BLOCK=128",
          .device = gpu_});
  }
  std::string file() const { return (folder_ / "thrice.cu").string(); }
  TuningData known(const DeviceFacts& device) const {
    return read_tuning_data({.database = "", .device = device, .kernels = {file()}});
  }
  static std::vector<Candidate> exported(const TuningData& data) {
    std::vector<Candidate> found;
    for (const Candidate& winner : data.winners)
      if (winner.origin == Candidate::Origin::exported) found.push_back(winner);
    return found;
  }

  std::string name_, template_;
  const DeviceFacts gpu_ = {.kind = DeviceKind::cuda,
                            .name = "A GPU",
                            .target = "sm_90a",
                            .compute_capability = 90,
                            .multiprocessors = 132,
                            .memory_bytes = 1};
};

TEST_F(KernelFolder, HasWinnersAndCompiledKernelsOfAGpu) {
  try {
    make_toolchain("sm_90a");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const KernelExportReport report = export_kernel(name_, database(), "a gpu", folder_);
  EXPECT_EQ(report.winners, 1u);
  EXPECT_EQ(report.binaries, 2u) << "the winner's and the base's";
  EXPECT_EQ(report.targets, std::vector<std::string>{"sm_90a"});
  EXPECT_EQ(report.notes, std::vector<std::string>());
  const TuningData there = known(gpu_);
  const std::vector<Candidate> winners = exported(there);
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_TRUE(winners[0].has_binary);
  EXPECT_EQ(winners[0].config.text(), "BLOCK=128");
  EXPECT_EQ(there.binaries.size(), 2u);
  const auto& binary = there.binaries.at(packed_name("sm_90a", winners[0].source_hash));
  EXPECT_TRUE(binary.is_exported);
  EXPECT_THAT(binary.bytes, HasSubstr("thrice_" + winners[0].source_hash.substr(0, 8)));
  // A GPU of another architecture gets the winner, but no binary.
  DeviceFacts other = gpu_;
  other.target = "sm_80";
  other.compute_capability = 80;
  EXPECT_TRUE(known(other).binaries.empty());
  EXPECT_EQ(exported(known(other)).size(), 1u);
}

// No changed part of a mutated file is used.
TEST_F(KernelFolder, MutatedFilesAreNotes) {
  tune({.op = name_, .problem = "n=1000", .template_name = template_, .config = "BLOCK=128"});
  export_kernel(name_, database(), "host", folder_);
  const auto read = [&] {
    return read_tuning_data(
        {.database = "", .device = host_facts(), .host_binaries = true, .kernels = {file()}});
  };
  const TuningData whole = read();
  ASSERT_EQ(exported(whole).size(), 1u);
  ASSERT_EQ(whole.binaries.size(), 2u);
  Random random(3);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file() || entry.path().string().find("/t.db") != std::string::npos) continue;
    const std::string bytes = read_file(entry.path());
    for (int i = 0; i < 20; ++i) {
      std::string changed = bytes;
      const std::size_t at = random.below(changed.size());
      if (i % 2 == 0) {
        changed[at] = static_cast<char>(changed[at] ^ (1 << random.below(8)));
      } else {
        changed.resize(at);
      }
      write_file(entry.path(), changed);
      const TuningData now = read();
      for (const auto& [name, binary] : now.binaries) EXPECT_EQ(binary.bytes, whole.binaries.at(name).bytes);
      for (const Candidate& winner : exported(now))
        EXPECT_EQ(winner.source_hash, exported(whole)[0].source_hash);
      EXPECT_TRUE(now.binaries.size() < 2 || exported(now).empty()) << entry.path() << " at " << at;
    }
    write_file(entry.path(), bytes);
  }
  EXPECT_EQ(read().binaries.size(), 2u);
}

}  // namespace
}  // namespace tunesmith
