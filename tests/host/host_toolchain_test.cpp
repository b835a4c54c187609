// SPDX-License-Identifier: Apache-2.0
// Tests the host's compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "tests/host_source.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns the value that a kernel named "kernel" writes to its one argument.
int written_by(const Source& source, const Compilation& compiled) {
  Launch launch{.kernel = "kernel", .arguments = {ArgumentPointer{0}}};
  int out = -1;
  void* arguments[] = {&out};
  EXPECT_EQ(
      load_host(compiled.bytes, source.suffix, Work{.steps = {launch}})->launch(arguments, nullptr, nullptr),
      0);
  return out;
}

TEST(HostToolchain, ASourceThatDoesNotCompileIsAnAnswer) {
  const Compilation compiled = make_host_toolchain()->compile(host_source("int broken = undeclared_name;"));
  EXPECT_FALSE(compiled.ok);
  EXPECT_THAT(compiled.log, HasSubstr("undeclared_name"));
  EXPECT_EQ(compiled.log.rfind("variant.cpp:", 0), 0u) << "no folder's name: " << compiled.log;
}

// A script that acts as the compiler as long as the object lives.
class Script {
 public:
  explicit Script(const std::string& text)
      : path_(testing::TempDir() + "tunesmith_compiler_" + std::to_string(getpid())) {
    std::ofstream(path_) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    setenv("TUNESMITH_CXX", path_.c_str(), 1);
  }
  ~Script() {
    unsetenv("TUNESMITH_CXX");
    std::filesystem::remove(path_);
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

 private:
  std::string path_;
};

TEST(HostToolchain, EndsACompilerThatTakesTooLong) {
  const Script slow("if [ \"$1\" = --version ]; then echo slow 1; else while :; do :; done; fi\n");
  const auto toolchain = make_host_toolchain(std::chrono::milliseconds(400));
  const Compilation compiled = toolchain->compile(host_source(""));
  EXPECT_FALSE(compiled.ok);
  EXPECT_TRUE(compiled.is_late);
  EXPECT_EQ(compiled.log, "The compiler took more than 0.4 s of processor time and was ended.");
  EXPECT_GE(compiled.milliseconds, 400);
  const Compilation impatient = toolchain->compile(host_source(""), {.limit = std::chrono::milliseconds(10)});
  EXPECT_TRUE(impatient.is_late);
  EXPECT_EQ(impatient.log, "The compiler took more than 10 ms and was ended.");
}

TEST(HostToolchain, ACompilerThatGetsNoProcessorIsNotTooSlow) {
  const Script waiting("[ \"$1\" = --version ] || sleep 2.5\nexec g++ \"$@\"\n");
  const auto toolchain = make_host_toolchain(std::chrono::seconds(2));
  const Compilation compiled =
      toolchain->compile(host_source("extern \"C\" __global__ void ENTRY(kernel)(int* out) { *out = 42; }"));
  EXPECT_TRUE(compiled.ok) << compiled.log;
  EXPECT_FALSE(compiled.is_late);
}

TEST(HostToolchain, TheShimCompilesWithoutAWarning) {
  for (const char* compiler : {"g++", "clang++"}) {
    if (std::system((std::string("command -v ") + compiler + " > /dev/null").c_str()) != 0) continue;
    const Script strict(std::string("[ \"$1\" = --version ] && exec ") + compiler + " --version\nexec " +
                        compiler +
                        " $(echo \"$@\" | sed 's/ -w / -Wall -Wextra -Werror -Wno-unknown-pragmas /')\n");
    const Compilation compiled = make_host_toolchain()->compile(host_source(R"(
extern "C" __global__ void __launch_bounds__(64) ENTRY(kernel)(float* out) {
  __shared__ float fixed[64];
  DYNAMIC_SHARED(float, unused);
#pragma unroll
  for (int n = 0; n < 4; ++n) fixed[threadIdx.x] = out[n];
  __syncthreads();
  out[threadIdx.x] = fixed[63 - threadIdx.x];
})"));
    EXPECT_TRUE(compiled.ok) << compiled.log;
    EXPECT_EQ(compiled.log, "");
  }
}

TEST(HostToolchain, CompilesFromSeveralThreads) {
  const auto toolchain = make_host_toolchain();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      const Source source = host_source(
          "extern \"C\" __global__ void ENTRY(kernel)(int* out) { *out = " + std::to_string(n) + "; }");
      const Compilation compiled = toolchain->compile(source);
      ASSERT_TRUE(compiled.ok) << compiled.log;
      EXPECT_EQ(written_by(source, compiled), n);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HostToolchain, LinksTheCppLibraryWhereItIsUsed) {
  const auto run = [](const std::string& body) {
    const Source source =
        host_source("extern \"C\" __global__ void ENTRY(kernel)(int* out) { " + body + " }");
    const Compilation compiled = make_host_toolchain()->compile(source);
    EXPECT_TRUE(compiled.ok) << compiled.log;
    EXPECT_EQ(compiled.log, "");
    EXPECT_EQ(written_by(source, compiled), 7);
    return compiled.bytes;
  };
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_THAT(run("*out = 7;"), Not(HasSubstr("libstdc++")));
#endif
  run("volatile int* made = new volatile int(7); *out = *made; delete made;");
}

// If an application ignores SIGCHLD, the system keeps no status of a child, and another thread may take it
// first.
TEST(HostToolchain, NeedsNoStatusOfItsChildren) {
  const auto previous = std::signal(SIGCHLD, SIG_IGN);
  {
    const Compilation right = make_host_toolchain()->compile(
        host_source("extern \"C\" __global__ void ENTRY(kernel)(int* out) { *out = 1; }"));
    EXPECT_TRUE(right.ok) << right.log;
    const Compilation wrong = make_host_toolchain()->compile(host_source("int broken = undeclared_name;"));
    EXPECT_FALSE(wrong.ok);
    EXPECT_THAT(wrong.log, HasSubstr("undeclared_name"));
    const Script killed(
        "[ \"$1\" = --version ] && echo dies 1 && exit\n"
        "while [ \"$1\" != -o ]; do shift; done\nhead -c 5000 /bin/sh > \"$2\"\n");
    EXPECT_FALSE(make_host_toolchain()->compile(host_source("")).ok) << "a part of an object";
  }
  std::signal(SIGCHLD, previous);
}

TEST(HostToolchain, ShortensALogOfManyLines) {
  const Script chatty(
      "[ \"$1\" = --version ] && echo talks 1 && exit\nseq 1 200000\n"
      "echo 'variant.cpp:7: error: late'\nseq 200001 300000\nexit 1\n");
  const Compilation compiled = make_host_toolchain()->compile(host_source(""));
  EXPECT_FALSE(compiled.ok);
  EXPECT_LT(compiled.log.size(), 20'000U);
  for (const char* part :
       {"1\n2\n", "100\n… 199900 lines are left out …\nvariant.cpp:7: error: late\n200001\n",
        "… 99981 lines are left out …\n\"tunesmith render\""})
    EXPECT_THAT(compiled.log, HasSubstr(part)) << part << compiled.log;
}

TEST(HostToolchain, SaysThatThereIsNoFolderForTemporaryFiles) {
  setenv("TMPDIR", "/nonexistent/tmp", 1);
  try {
    make_host_toolchain();
    ADD_FAILURE() << "a missing folder was used";
  } catch (const Error& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("/nonexistent/tmp cannot be used")) << error.what();
  }
  unsetenv("TMPDIR");
}

TEST(HostToolchain, SaysWhichCompilerIsMissing) {
  setenv("TUNESMITH_CXX", "/nonexistent/c++", 1);
  try {
    make_host_toolchain();
    ADD_FAILURE() << "a missing compiler was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "TUNESMITH_CXX is /nonexistent/c++, which is not an executable program; set it to a C++ compiler.");
  }
  unsetenv("TUNESMITH_CXX");
}

}  // namespace
}  // namespace tunesmith
