// SPDX-License-Identifier: Apache-2.0
// Tests the messages and files between processes, and the handling of processes that die.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>

#include "generator/ops.h"
#include "generator/space.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/faults/fixture.h"
#include "tuner/check/compilers.h"
#include "tuner/check/device_worker.h"
#include "tuner/check/references.h"
#include "tuner/device/check_data.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

Problem pairs(std::int64_t count) {
  return complete_problem(find_op("pairs"), Problem::parse("count=" + std::to_string(count)));
}

std::string wait_for_file(References& references, const Problem& problem, std::uint64_t seed) {
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (Clock::now() < deadline) {
    if (std::string path = references.ready(problem.text(), seed); !path.empty()) return path;
    wait_for({references.descriptor()}, 0.1);
    references.update();
  }
  return {};
}

TEST(CheckFile, HoldsInputsAndReferencesAndCannotBeChanged) {
  const Op& op = find_op("pairs");
  const MemoryFile file;
  EXPECT_THROW(CheckFile(op, pairs(1000), file.path()), Error);  // not made yet
  make_check_file(op, pairs(1000), 7, file.path());
  const CheckFile made(op, pairs(1000), file.path());
  ASSERT_EQ(made.parts().size(), 7u);  // with three companions, and these again with other values
  for (std::size_t n = 0; n < 7; ++n)
    EXPECT_EQ(made.parts()[n].set, n < 4 ? 0 : 1 + static_cast<int>(n) % 2) << n;
  const auto others = make_inputs(op, made.parts()[5].problem, 7 + 5, made.parts()[5].set);
  EXPECT_EQ(std::string(made.parts()[5].arrays[0].initial.begin(), made.parts()[5].arrays[0].initial.end()),
            pack(DType::f32, others[0]));
  const auto inputs = make_inputs(op, pairs(1000), 7);
  const CheckPart& part = made.parts().front();
  EXPECT_EQ(std::string(part.arrays[0].initial.begin(), part.arrays[0].initial.end()),
            pack(DType::f32, inputs[0]));
  const ExpectedOutput expected = reference_of(op, pairs(1000), inputs, 2);
  EXPECT_TRUE(std::ranges::equal(part.arrays[2].expected, expected.value));
  ASSERT_EQ(part.arrays[2].permitted.size(), 4 * expected.permitted_error.size());
  for (std::size_t i = 0; i < expected.permitted_error.size(); ++i) {
    const double kept = unpack_permitted(DType::f32, part.arrays[2].permitted.data() + 4 * i);
    EXPECT_GE(kept, expected.permitted_error[i]);
    EXPECT_LE(kept, expected.permitted_error[i] * (1 + 0x1p-23));
  }
  EXPECT_THROW(CheckFile(op, pairs(2000), file.path()), Error);  // made for another problem

  const int descriptor = ::open(file.path().c_str(), O_RDWR);
  EXPECT_EQ(::write(descriptor, "x", 1), -1);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), MAP_FAILED);
  ::close(descriptor);
}

TEST(References, AreBegunAgainWhenTheirProcessIsKilled) {
  References references(60);
  const Problem large = pairs(1 << 24);
  references.want("pairs", large.text(), 1);
  references.want("pairs", pairs(10).text(), 1);
  pid_t maker = 0;
  for (int i = 0; maker == 0 && i < 1000; ++i) {
    ::usleep(5'000);
    maker = FaultTest::worker_of(::getpid(), "reference");
  }
  ASSERT_GT(maker, 0);
  EXPECT_EQ(references.ready(large.text(), 1), "");
  ::kill(maker, SIGKILL);
  const std::string path = wait_for_file(references, large, 1);
  ASSERT_NE(path, "");
  const CheckFile file(find_op("pairs"), large, path);
  const auto inputs = make_inputs(find_op("pairs"), large, 1);
  EXPECT_EQ(
      std::memcmp(file.parts()[0].arrays[0].initial.data(), pack(DType::f32, inputs[0]).data(), 4 << 24), 0);
  EXPECT_NE(wait_for_file(references, pairs(10), 1), "");
  references.forget_others(large.text());
  EXPECT_EQ(references.ready(pairs(10).text(), 1), "");
}

TEST(References, AreMadeOnceForSeveralDevices) {
  const auto shared = std::make_shared<SharedReferences>();
  auto first = std::make_unique<References>(60, shared);
  References second(60, shared);
  const Problem problem = pairs(1000);
  first->want("pairs", problem.text(), 1);
  second.want("pairs", problem.text(), 1);
  second.want("pairs", problem.text(), 2);  // other inputs
  EXPECT_NE(wait_for_file(second, problem, 2), "");
  EXPECT_EQ(second.ready(problem.text(), 1), "") << "it waits for the first";
  const std::string path = wait_for_file(*first, problem, 1);
  EXPECT_EQ(wait_for_file(second, problem, 1), path);
  first.reset();
  EXPECT_EQ(CheckFile(find_op("pairs"), problem, path).parts().size(), 7U) << "the second has it still";
  second.forget_others("");
  EXPECT_THROW(CheckFile(find_op("pairs"), problem, path), Error) << "nobody has it";
  second.want("pairs", problem.text(), 1);
  EXPECT_NE(wait_for_file(second, problem, 1), "");

  // The process that began to make it leaves.
  first = std::make_unique<References>(60, shared);
  const Problem large = pairs(1 << 24);
  first->want("pairs", large.text(), 1);
  second.want("pairs", large.text(), 1);
  second.update();
  first.reset();
  EXPECT_NE(wait_for_file(second, large, 1), "");

  // The process that began to make it has other work, and reads no answer.
  first = std::make_unique<References>(60, shared);
  const Problem larger = pairs((1 << 24) - 1);
  first->want("pairs", larger.text(), 1);
  second.want("pairs", larger.text(), 1);
  second.update();
  EXPECT_EQ(second.ready(larger.text(), 1), "");
  first->give_up();
  EXPECT_NE(wait_for_file(second, larger, 1), "");
  first->want("pairs", pairs(2000).text(), 1);
  const std::string small = wait_for_file(*first, pairs(2000), 1);
  EXPECT_EQ(CheckFile(find_op("pairs"), pairs(2000), small).parts().size(), 7U) << "not the answer of before";
}

TEST(References, GiveUpWhenTheirProcessDiesEachTime) {
  References references(60);
  references.want("pairs", pairs(1 << 24).text(), 1);
  const auto kill_all = [&] {
    while (true) {
      if (const pid_t maker = FaultTest::worker_of(::getpid(), "reference"); maker > 0)
        ::kill(maker, SIGKILL);
      wait_for({references.descriptor()}, 0.1);
      references.update();
    }
  };
  try {
    kill_all();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("was ended by SIGKILL"));
    EXPECT_THAT(error.what(), HasSubstr("3 times in a row"));
  }
}

TEST(Compilers, AVariantWhoseCompilerWasKilledIsCompiledByAnother) {
  Compilers compilers("host", 1, 60, "");
  Source source;
  source.text = "int answer() { return 42; }";
  source.hash = "42";
  source.target = "host";
  const auto kill_compiler = [] {
    const pid_t compiler = FaultTest::worker_of(::getpid(), "compile:host");
    EXPECT_GT(compiler, 0);
    ::kill(compiler, SIGKILL);
  };
  const auto result = [&] {
    while (true) {
      for (CompileResult& each : compilers.update()) return std::move(each);
      std::vector<int> descriptors;
      compilers.descriptors(descriptors);
      wait_for(descriptors, 0.005);
    }
  };
  compilers.begin(1, source);
  kill_compiler();
  EXPECT_EQ(result().verdict, Verdict::ok);
  EXPECT_GT(compilers.busy_s(), 0);

  // One that gets no processor for longer than its limit is not too slow.
  const auto stop_compiler = [](int signal) {
    ::kill(FaultTest::worker_of(::getpid(), "compile:host"), signal);
  };
  source.text = "int answer() { return 43; }";
  stop_compiler(SIGSTOP);
  compilers.begin(2, source, 2);
  const auto end = Clock::now() + std::chrono::milliseconds(2500);
  while (Clock::now() < end) {
    EXPECT_TRUE(compilers.update().empty());
    ::usleep(50'000);
  }
  stop_compiler(SIGCONT);
  EXPECT_EQ(result().verdict, Verdict::ok);

  compilers.begin(2, source, 1e-3);
  const CompileResult late = result();
  EXPECT_EQ(late.verdict, Verdict::timeout);
  EXPECT_THAT(late.reason, HasSubstr("longer budget"));
  EXPECT_EQ(late.milliseconds, 1.0);
}

TEST(Compilers, WhatIsCompiledAheadIsFoundAndAsksNobodyToWait) {
  std::string folder = (std::filesystem::path(testing::TempDir()) / "tunesmith_ahead_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  auto owned = std::make_unique<Compilers>("host", 1, 60, folder);
  Compilers& compilers = *owned;
  Source source;
  source.text = "int answer() { return 42; }";
  source.hash = std::string(64, '4');
  source.target = "host";
  compilers.begin_ahead(source, 0);
  EXPECT_EQ(compilers.at_work(), 0);
  EXPECT_FALSE(compilers.has_room()) << "it is compiled nevertheless";
  std::vector<int> descriptors;
  compilers.descriptors(descriptors);
  while (!compilers.has_room()) {
    wait_for(descriptors, 0.05);
    EXPECT_TRUE(compilers.update().empty()) << "nobody asked for the result";
  }
  compilers.begin(1, source);
  std::vector<CompileResult> results;
  while (results.empty()) {
    wait_for(descriptors, 0.05);
    results = compilers.update();
  }
  EXPECT_EQ(results.front().verdict, Verdict::ok);
  EXPECT_FALSE(results.front().milliseconds.has_value()) << "an earlier compilation's";

  // One that goes on is taken over, though there is no room for another.
  source.text = "int answer() { return 43; }";
  source.hash = std::string(64, '5');
  compilers.begin_ahead(source, 0);
  compilers.begin(2, source);
  EXPECT_EQ(compilers.at_work(), 1);
  for (results.clear(); results.empty(); results = compilers.update()) wait_for(descriptors, 0.05);
  EXPECT_EQ(results.front().ticket, 2);
  EXPECT_EQ(results.front().verdict, Verdict::ok);
  owned.reset();  // its workers write into the folder until then
  std::filesystem::remove_all(folder);
}

TEST(DeviceWorker, PreparesTheLastOfTwoRequests) {
  References references(60);
  DeviceWorker worker("host", {});
  for (const std::int64_t count : {1 << 20, 1000}) {
    const Problem problem = pairs(count);
    references.want("pairs", problem.text(), 1);
    worker.prepare({"pairs", problem.text(), wait_for_file(references, problem, 1)});
  }
  EXPECT_FALSE(worker.idle());
  for (int answers = 0; answers < 20; ++answers) {  // an answer that nobody waits for would throw
    wait_for({worker.descriptor()}, worker.idle() ? 0.02 : 60);
    EXPECT_FALSE(worker.update().has_value());
  }
  EXPECT_TRUE(worker.idle());
  EXPECT_EQ(worker.deaths(), 0);
}

// The worker is stopped, as on a machine that is too busy: a right variant stays right.
TEST(DeviceWorker, TimeWithoutAProcessorDecidesNothing) {
  References references(60);
  DeviceWorker worker("host", {});
  const Problem problem = pairs(1000);
  references.want("pairs", problem.text(), 1);
  worker.prepare({"pairs", problem.text(), wait_for_file(references, problem, 1)});
  const auto answer = [&] {
    std::optional<MeasureReply> reply;
    while (!(reply = worker.update()) && !worker.idle()) wait_for({worker.descriptor()}, 0.05);
    return reply;
  };
  EXPECT_FALSE(answer().has_value()) << "it is prepared";
  const auto request = [&](const char* name) {
    const Op& op = find_op("pairs");
    const Template& tmpl = find_template(op, name);
    const Config config = tmpl.space(problem, worker.hello().device).complete({});
    const Source source = render(op, tmpl, problem, config, "host");
    MeasureRequest asked;
    asked.template_name = name;
    asked.config = config.text();
    asked.suffix = source.suffix;
    asked.binary = make_host_toolchain()->compile(source).bytes;
    return asked;
  };
  constexpr double limit_s = 2;
  ::kill(worker.process(), SIGSTOP);
  worker.measure(request("plain"), limit_s);
  const auto end = Clock::now() + std::chrono::milliseconds(2500);
  while (Clock::now() < end) {
    EXPECT_FALSE(worker.update().has_value());
    ::usleep(50'000);
  }
  ::kill(worker.process(), SIGCONT);
  const auto right = answer();
  ASSERT_TRUE(right.has_value());
  EXPECT_EQ(right->verdict, Verdict::ok) << right->reason;

  worker.measure(request("hang"), limit_s);
  const auto endless = answer();
  ASSERT_TRUE(endless.has_value());
  EXPECT_EQ(endless->verdict, Verdict::timeout);
  EXPECT_THAT(endless->reason,
              HasSubstr("took longer than 2 s of processor time; the worker was ended. The host emulates"));
}

// A traced process cannot be waited for after its end, like a process that hangs in a driver.
TEST(Child, ThatDoesNotEndIsLeftBehind) {
  Child child("reference");
  std::array<int, 2> ready;
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    const char traced = ::ptrace(PTRACE_SEIZE, child.process(), nullptr, nullptr) == 0 ? 'y' : 'n';
    if (::write(ready[1], &traced, 1) == 1) ::pause();
    ::_exit(0);
  }
  char traced = 'n';
  ASSERT_EQ(::read(ready[0], &traced, 1), 1);
  if (traced == 'y') {
    child.kill();
    const auto start = Clock::now();
    EXPECT_THAT(child.end(), HasSubstr("left behind"));
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(8));
  }
  ::kill(tracer, SIGKILL);
  ::waitpid(tracer, nullptr, 0);
  ::waitpid(child.process(), nullptr, 0);
  if (traced != 'y') GTEST_SKIP() << "this system lets no process trace another one";
}

}  // namespace
}  // namespace tunesmith
