// SPDX-License-Identifier: Apache-2.0
// Tests that some operations do not become slow, as ratios of processor time, so that it holds on any
// machine. bench/results/history.md has figures, from bench/dispatch_bench.cpp.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bench/many_verdicts.h"
#include "dispatch/launch_counts.h"
#include "dispatch/plan_state.h"
#include "dispatch/tuning_data.h"
#include "fixture.h"
#include "kernel_file/find_op.h"
#include "tunesmith/conv2d.h"
#include "tunesmith/elementwise.h"

namespace tunesmith {
namespace {

double thread_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The least time of several rounds, per call.
template <typename Call>
double seconds(int calls, Call call) {
  double least = 1e9;
  for (int round = 0; round < 7; ++round) {
    const double start = thread_seconds();
    for (int i = 0; i < calls; ++i) call();
    least = std::min(least, (thread_seconds() - start) / calls);
  }
  return least;
}

class Speed : public DispatcherTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "A sanitizer's own work would be measured.";
#endif
  }
  DispatcherOptions library_alone() const {
    DispatcherOptions bare = options();
    bare.database.clear();
    bare.cache_folder.clear();
    return bare;
  }
};

TEST_F(Speed, ThreadsLookUpWithoutSlowingEachOther) {
  Dispatcher dispatcher(library_alone());
  const Conv2dShape shape = {.height = 100, .width = 200, .mask_height = 3, .mask_width = 3};
  const auto look_up = [&] {
    if (!conv2d_plan<float>(dispatcher, shape)) ADD_FAILURE();
  };
  look_up();
  const double alone = seconds(20000, look_up);
  double each[4] = {};
  {
    std::vector<std::jthread> threads;
    for (double& one : each) threads.emplace_back([&] { one = seconds(20000, look_up); });
  }
  EXPECT_LT(*std::max_element(std::begin(each), std::end(each)), 3 * alone);

  const std::string text =
      dispatcher.plan("conv2d", "height=100 width=200 mask_height=3 mask_width=3").problem();
  std::unordered_map<std::string, int> map;  // with so many entries that it hashes
  for (int i = 0; i < 100; ++i) map[text + std::to_string(i)] = i;
  map[text] = 1;
  std::size_t found = 0;
  const auto look_into_map = [&] { found += map.count(text); };
  // The time counts as a multiple of a look-up in the map; the processor's speed changes, so both are
  // measured again.
  const auto least_ratio = [&](const auto& call, double most) {
    double least = 1e9;
    for (int attempt = 0; attempt < 5 && least >= most; ++attempt) {
      const double hashed = seconds(20000, look_into_map);
      least = std::min(least, seconds(20000, call) / hashed);
    }
    return least;
  };
  EXPECT_LT(least_ratio(look_up, 5), 5);  // about 4
  EXPECT_GT(found, 0u);

  // The texts are made for each look-up.
  const std::string function = "hypot";
  const std::vector<std::int64_t> sizes = {1000, 1000};
  const std::vector<ElementwiseLayout> inputs(2);
  const auto look_up_texts = [&] {
    if (!elementwise_plan(dispatcher, function, ElementType::f32, sizes, inputs)) ADD_FAILURE();
  };
  EXPECT_LT(least_ratio(look_up_texts, 6), 6);
}

TEST_F(Speed, ATypedCallIsALookUpAndALaunch) {
  Dispatcher dispatcher(library_alone());
  const Conv2dShape shape = {.height = 4, .width = 4, .mask_height = 1, .mask_width = 1};
  std::vector<float> image(16, 1);
  std::vector<float> output(16);
  const float mask = 2;
  const Plan plan = conv2d_plan<float>(dispatcher, shape);
  void* const arguments[] = {image.data(), const_cast<float*>(&mask), output.data()};
  bool ok = true;
  double launch = 1e9;
  double typed = 1e9;
  for (int round = 0; round < 5; ++round) {  // in turns, so that both see the same load
    launch = std::min(launch, seconds(500, [&] { ok &= plan.launch(arguments).ok(); }));
    typed = std::min(typed, seconds(500, [&] {
                       ok &= conv2d(dispatcher, image.data(), &mask, output.data(), shape).ok();
                     }));
  }
  EXPECT_TRUE(ok);
  EXPECT_LT(typed, 2 * launch);
}

// The database has 10,000 verdicts on 100 problems; only the winners are read.
TEST_F(Speed, AStartDoesNotReadTheVerdicts) {
  const std::string many_verdicts = (folder_ / "many.db").string();
  make_verdicts(database(), host_facts(), 100, 5);
  make_verdicts(many_verdicts, host_facts(), 100, 100);
  DispatcherOptions with = library_alone();
  double few = 1e9;
  double many = 1e9;
  for (int round = 0; round < 5; ++round) {
    with.database = database();
    few = std::min(few, seconds(1, [&] { const Dispatcher one(with); }));
    with.database = many_verdicts;
    many = std::min(many, seconds(1, [&] { const Dispatcher one(with); }));
  }
  EXPECT_LT(many, 3 * few) << "with few " << few << " s";
}

TEST_F(Speed, AStartReadsNoTables) {
  const TuningData data = read_tuning_data({.database = "", .device = host_facts()});
  if (data.tables.empty()) GTEST_SKIP() << "The library has no tables (TUNESMITH_DEVICES).";
  const double start = seconds(1, [&] { const Dispatcher one(library_alone()); });
  const double reading = seconds(1, [&] {
    for (const TuningData::Table& table : data.tables) candidates_of(table.read());
  });
  EXPECT_LT(start, reading);
}

// A plan takes about 3 KiB on the host (DispatcherOptions::most_bytes).
TEST_F(Speed, APlanTakesLittleMemory) {
  Dispatcher dispatcher(library_alone());
  std::int64_t width = 200;
  const auto plan = [&] {
    static_cast<void>(
        conv2d_plan<float>(dispatcher, {.height = 100, .width = ++width, .mask_height = 3, .mask_width = 3}));
  };
  for (int i = 0; i < 10; ++i) plan();
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i) plan();
  EXPECT_LT(mallinfo2().uordblks - before, std::size_t{1000} * 8192);
}

TEST_F(Speed, ThreadsCountLaunchesWithoutSlowingEachOther) {
  Count count;
  const auto add = [&] { count.add(); };
  const double alone = seconds(200000, add);
  double each[4] = {};
  {
    std::vector<std::jthread> threads;
    for (double& one : each) threads.emplace_back([&] { one = seconds(200000, add); });
  }
  EXPECT_LT(*std::max_element(std::begin(each), std::end(each)), 3 * alone);
  EXPECT_EQ(count.sum(), std::uint64_t{5} * 7 * 200000);
}

double rendering_a_base() {
  const Op& op = find_op("conv2d");
  const Problem problem =
      complete_problem(op, Problem::parse("height=100 width=200 mask_height=3 mask_width=3"));
  const Config config = base_config(op, problem);
  return seconds(20, [&] {
    if (render(op, op.templates.front(), problem, config, "host").text.empty()) ADD_FAILURE();
  });
}

TEST_F(Speed, AFirstPlanOfALoadedKernelRendersNothing) {
  Dispatcher dispatcher(library_alone());
  std::int64_t width = 200;
  const double planning = seconds(200, [&] {
    if (!conv2d_plan<float>(dispatcher, {.height = 100, .width = ++width, .mask_height = 3, .mask_width = 3}))
      ADD_FAILURE();
  });
  EXPECT_LT(planning, rendering_a_base() / 4);
}

// The choice is among some fifty variants with times on hundreds of problems.
TEST_F(Speed, ChoosingFromATableTakesAPartOfRendering) {
  TuningData data = read_tuning_data({.database = "", .device = host_facts()});
  if (data.tables.empty()) GTEST_SKIP() << "The library has no tables (TUNESMITH_DEVICES).";
  const DeviceFacts device = data.tables.front().device;
  const SelectionContext context(device, CandidateSet{std::move(data.winners), std::move(data.tables)}, true);
  const Op& op = find_op("conv2d");
  Problem problem = complete_problem(op, Problem::parse("height=100 width=200 mask_height=3 mask_width=3"));
  std::int64_t width = 200;
  const double choosing = seconds(200, [&] {
    problem.set("width", ++width);
    if (Choices(context.of(op).chooser, problem, true).at(0) == nullptr) ADD_FAILURE();
  });
  EXPECT_LT(choosing, rendering_a_base() / 8);
}

}  // namespace
}  // namespace tunesmith
