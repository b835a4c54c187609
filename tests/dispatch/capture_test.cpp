// SPDX-License-Identifier: Apache-2.0
// Tests plans that are made while a stream is captured into a graph, with a CUDA runtime that launches
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "fake_cuda.h"
#include "generator/error.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

const std::string remedy =
    "a stream is being captured: make the plan before the capture, with prepare() or wait_until_ready()";

class CaptureTest : public testing::Test {
 protected:
  CaptureTest() { fake_cuda::capturing = fake_cuda::refuses_loads = fake_cuda::capture_ended = false; }
  ~CaptureTest() override { fake_cuda::capturing = false; }

  static DispatcherOptions options(Compile compile) {
    return {.device = "cuda", .database = "", .compile = compile, .cache_folder = ""};
  }
  // Launches a plan with that many arguments.
  static Status launch(const Plan& plan) {
    std::array<void*, 4> arguments{};
    for (std::size_t i = 0; i < plan.argument_count(); ++i)
      arguments[i] = reinterpret_cast<void*>((i + 1) << 40);
    return plan.launch(std::span(arguments).first(plan.argument_count()));
  }
  static bool says(const Plan& plan, const std::string& words) {
    for (const std::string& sentence : plan.explanation())
      if (sentence.find(words) != std::string::npos) return true;
    return false;
  }
};

// Uses kernels of the library, with and without a workspace, for aligned and other pointers.
TEST_F(CaptureTest, PlansAndLaunchesDoNotEndACapture) {
  for (const NamedProblem& problem :
       {NamedProblem{"conv2d", "height=1000 width=2000 mask_height=3 mask_width=3"},
        NamedProblem{"reduce", "length=100000000"}, NamedProblem{"histogram", "length=1000000 bins=256"}}) {
    Dispatcher dispatcher(options(Compile::now));
    fake_cuda::capturing = true;
    const int before = fake_cuda::launches;
    const Status status = launch(dispatcher.plan(problem.op, problem.problem));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_GT(fake_cuda::launches, before);
    EXPECT_FALSE(fake_cuda::capture_ended) << problem.op;
    fake_cuda::capturing = false;
  }
}

TEST_F(CaptureTest, ALoadThatIsRefusedSaysWhatToDoAndIsTriedAgain) {
  Dispatcher dispatcher(options(Compile::background));
  const auto plan = [&] {
    return dispatcher.plan("conv2d", "height=1000 width=2000 mask_height=3 mask_width=3");
  };
  fake_cuda::capturing = fake_cuda::refuses_loads = true;
  try {
    plan();
    ADD_FAILURE() << "nothing can be loaded";
  } catch (const Error& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("cudaErrorStreamCaptureUnsupported"));
    EXPECT_THAT(std::string(error.what()), HasSubstr(remedy)) << error.what();
  }
  fake_cuda::capturing = false;
  EXPECT_TRUE(launch(plan()).ok());
}

TEST_F(CaptureTest, ALaunchThatIsRefusedSaysWhatToDo) {
  Dispatcher dispatcher(options(Compile::now));
  const Plan plan = dispatcher.plan("transpose", "height=1000 width=2000");
  fake_cuda::capture_ended = true;
  const Status status = launch(plan);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr(remedy));
}

// The better kernel is ready too late for the graph.
TEST_F(CaptureTest, AGraphThatKeepsWhatStandsInIsSaid) {
  const std::string kept = "A graph has captured this kernel";
  Dispatcher dispatcher(options(Compile::background));
  const Plan plan = dispatcher.plan("conv2d", "height=1000 width=2000 mask_height=11 mask_width=5");
  ASSERT_TRUE(says(plan, "Compiled in the background"));
  EXPECT_TRUE(launch(plan).ok());
  EXPECT_FALSE(says(plan, kept));
  fake_cuda::capturing = true;
  EXPECT_TRUE(launch(plan).ok());
  EXPECT_TRUE(says(plan, kept));
}

}  // namespace
}  // namespace tunesmith
