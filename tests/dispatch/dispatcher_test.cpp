// SPDX-License-Identifier: Apache-2.0
// Tests the dispatcher on the host device, with databases made here; every result is checked against the
// reference.
#include "tunesmith/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <new>
#include <optional>
#include <thread>

#include "fixture.h"
#include "kernel_file/find_op.h"
#include "runtime/cache.h"
#include "tunesmith/conv2d.h"
#include "tunesmith/elementwise.h"

namespace {
std::atomic<long> allocations = 0;
}
// GCC does not see that the two operators are a pair.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

// Sets an environment variable for one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_F(DispatcherTest, WithoutAnythingItIsTheBase) {
  Dispatcher dispatcher(options());
  EXPECT_TRUE(dispatcher.on_host());
  EXPECT_THAT(dispatcher.notes().at(0), HasSubstr("There is no database"));
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::base);
  EXPECT_EQ(plan.variant().template_name, "base");
  EXPECT_EQ(plan.variant().median_us, 0);
  check(plan, "smooth");
  check(plan, "smooth", 4);
}

TEST_F(DispatcherTest, ABaseThatFailedHereIsUsedOnlyWithAWarning) {
  const Op& op = find_op("smooth");
  const auto measured = [&](const char* text, const std::string& verdict) {
    const Problem problem = complete_problem(op, Problem::parse(text));
    const Source source =
        render(op, op.templates.front(), problem, base_config(op, problem, facts()), "host");
    Store store = Store::open(database(), Store::Mode::create);
    SessionRow session;
    session.device_id = store.id_of(row_of(facts()));
    MeasurementRow row;
    row.session_id = store.begin_session(session);
    row.device_id = session.device_id;
    row.problem_id = store.id_of(ProblemRow{.op = op.name, .text = problem.text()});
    const auto body = store.id_of(TemplateRow{.op = op.name, .name = "base", .body_hash = "b"});
    row.variant_id =
        store.id_of(VariantRow{.template_id = body, .target = "host", .source_hash = source.hash});
    row.is_base = true;
    row.verdict = verdict;
    if (verdict == "ok") row.median_us = 7;
    if (verdict != "ok") row.reason = "y[0] is 1, expected 2.";
    store.record(row);
  };
  const auto warning = [&](const char* text) {
    Dispatcher dispatcher(options());
    const Plan plan = dispatcher.plan("smooth", text);
    EXPECT_EQ(plan.match(), Match::base);
    if (!plan.warning().empty()) {
      EXPECT_TRUE(says(plan, plan.warning()));
    }
    return plan.warning();
  };
  measured("n=1000 taps=5", "wrong_result");
  const std::string words = "has the verdict wrong_result. y[0] is 1, expected 2.";
  EXPECT_THAT(warning("n=1000 taps=5"), HasSubstr(words));
  EXPECT_THAT(warning("n=2000 taps=5"), HasSubstr(words));  // the same kernel
  {                                                         // the database is asked once
    Dispatcher dispatcher(options());
    dispatcher.plan("smooth", "n=1000 taps=5");
    std::filesystem::rename(database(), database() + ".away");
    EXPECT_THAT(dispatcher.plan("smooth", "n=2000 taps=5").warning(), HasSubstr(words));
    std::filesystem::rename(database() + ".away", database());
  }
  measured("n=2000 taps=5", "ok");
  EXPECT_THAT(warning("n=1000 taps=5"), HasSubstr(words));
  EXPECT_EQ(warning("n=2000 taps=5"), "");
  measured("n=1000 taps=5", "ok");
  EXPECT_EQ(warning("n=1000 taps=5"), "");
  EXPECT_EQ(warning("n=3000 taps=5"), "");
}

TEST_F(DispatcherTest, Exact) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  DispatcherOptions without_compiler = options();
  without_compiler.compile = Compile::never;
  Dispatcher dispatcher(without_compiler);
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::exact);
  EXPECT_EQ(plan.expected_loss(), 0);
  EXPECT_EQ(plan.expected_us(), 10);
  EXPECT_EQ(plan.variant().template_name, "vector");
  EXPECT_EQ(plan.variant().median_us, 10);
  EXPECT_EQ(plan.variant().tuned_problem, "n=1000 taps=5 dtype=f32");
  EXPECT_EQ(plan.alignment_bytes(), 16);
  says(plan, "its binary is in the database");
  check(plan, "smooth");
}

TEST_F(DispatcherTest, NearestNeedsNoCompilerWhereItsConstantsAgree) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  tune({.problem = "n=64 taps=5", .config = "VECTOR=2"});
  const Environment no_compiler("TUNESMITH_CXX", "/nonexistent");
  const Environment no_path("PATH", "");
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1200 taps=5");
  EXPECT_EQ(plan.match(), Match::predicted);
  EXPECT_GT(plan.expected_loss(), 0);
  EXPECT_NEAR(plan.expected_us(), 10, 3);
  EXPECT_EQ(plan.variant().tuned_problem, "n=1000 taps=5 dtype=f32");
  check(plan, "smooth");
}

TEST_F(DispatcherTest, SizesNobodyTunedAreCompiledOnce) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  {
    Dispatcher dispatcher(options());
    const Plan plan = dispatcher.plan("smooth", "n=1000 taps=6");
    EXPECT_EQ(plan.match(), Match::predicted);
    EXPECT_EQ(plan.variant().template_name, "vector");
    says(plan, "compiled now");
    check(plan, "smooth");
    check(plan, "smooth", 4);
  }
  const Environment no_compiler("TUNESMITH_CXX", "/nonexistent");
  const Environment no_path("PATH", "");
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=6");
  EXPECT_EQ(plan.match(), Match::predicted);
  says(plan, "compiled before");
  check(plan, "smooth");
}

TEST_F(DispatcherTest, ADamagedCacheIsNoCache) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  Dispatcher(options()).plan("smooth", "n=1000 taps=6");
  for (const auto& entry : std::filesystem::directory_iterator(options().cache_folder)) {
    std::filesystem::resize_file(entry.path(), 1000);
  }
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=6");
  says(plan, "compiled now");
  check(plan, "smooth");
}

TEST_F(DispatcherTest, NoCompilerAndOtherConstantsIsTheBuiltInBase) {
  tune({.op = "conv2d",
        .problem = "height=20 width=30 mask_height=3 mask_width=3",
        .template_name = "base",
        .config = "BLOCK_X=64"});
  const Environment no_compiler("TUNESMITH_CXX", "/nonexistent");
  const Environment no_path("PATH", "");
  DispatcherOptions nothing_cached = options();
  nothing_cached.cache_folder.clear();
  nothing_cached.database.clear();
  Dispatcher dispatcher(nothing_cached);
  for (const char* dtype : {"f32", "f64"}) {
    const Plan plan = dispatcher.plan(
        "conv2d", std::string("height=21 width=33 mask_height=6 mask_width=6 dtype=") + dtype);
    EXPECT_EQ(plan.match(), Match::base);
    says(plan, "its binary is built in");
    check(plan, "conv2d");
  }
  // The library does not contain the test's own op, so without a compiler there is no kernel to run.
  try {
    dispatcher.plan("smooth", "n=1000 taps=6");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("No compiler")) << error.what();
  }
}

TEST_F(DispatcherTest, RefusedWinnersAreExplained) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  Dispatcher dispatcher(options());
  const Plan many = dispatcher.plan("smooth", "n=1000 taps=10");
  EXPECT_EQ(many.match(), Match::base);
  says(many, "More than 9 taps are not unrolled.");
  check(many, "smooth");
  const Plan wide = dispatcher.plan("smooth", "n=1000 taps=5 dtype=f64");
  EXPECT_EQ(wide.match(), Match::predicted) << "a dtype lends its configs to another";
  EXPECT_EQ(wide.variant().template_name, "vector");
  check(wide, "smooth");
}

TEST_F(DispatcherTest, AConfigIsAdaptedToTheProblem) {
  tune({.problem = "n=1000 taps=5", .config = "BLOCK=64 VECTOR=4"});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1002 taps=5");
  EXPECT_EQ(plan.match(), Match::predicted);
  EXPECT_EQ(plan.variant().config, "BLOCK=64 VECTOR=2 STATE=none");
  EXPECT_EQ(plan.alignment_bytes(), 8);
  says(plan, "changed to VECTOR=2");
  check(plan, "smooth");
  check(plan, "smooth", 4);
}

TEST_F(DispatcherTest, StaleRowsAreRefusedAlone) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .hash = std::string(64, 'a')});
  tune({.problem = "n=2000 taps=5", .config = "VECTOR=4"});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::predicted);
  EXPECT_EQ(plan.variant().tuned_problem, "n=2000 taps=5 dtype=f32");
  says(plan, "It is stale");
  check(plan, "smooth");
}

TEST_F(DispatcherTest, TooLargeAndStatefulConfigsAreRefused) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1 BLOCK=4096"});
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=2 STATE=copy", .binary = false});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::base);
  says(plan, "4096");
  says(plan, "two streams");
  check(plan, "smooth");
}

TEST_F(DispatcherTest, OtherDevicesComeLast) {
  DeviceFacts other = host_facts();
  other.name = "Another CPU";
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .device = other});
  DeviceFacts gpu = {.kind = DeviceKind::cuda,
                     .name = "A GPU",
                     .target = "sm_90a",
                     .compute_capability = 90,
                     .multiprocessors = 132,
                     .memory_bytes = 1};
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .device = gpu});
  {
    Dispatcher dispatcher(options());
    const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
    EXPECT_EQ(plan.match(), Match::other_device);
    EXPECT_EQ(plan.variant().tuned_on, "Another CPU");
    says(plan, "It was tuned on a device of kind cuda");
    check(plan, "smooth");
  }
  tune({.problem = "n=3000 taps=5", .config = "VECTOR=2"});
  Dispatcher dispatcher(options());
  EXPECT_EQ(dispatcher.plan("smooth", "n=1000 taps=5").match(), Match::predicted);
}

TEST_F(DispatcherTest, BadProblemsAreSentences) {
  Dispatcher dispatcher(options());
  EXPECT_THROW(dispatcher.plan("nothing", "n=1"), std::runtime_error);
  EXPECT_THROW(dispatcher.plan("smooth", "n=0 taps=1"), std::runtime_error);
  EXPECT_THROW(dispatcher.plan("smooth", "n=1"), std::runtime_error);
  EXPECT_THROW(dispatcher.plan("conv2d",
                               "batch=2147000000 height=2147000000 width=2147000000 mask_height=1 "
                               "mask_width=1"),
               std::runtime_error);
}

TEST_F(DispatcherTest, BadFieldsAreSentences) {
  Dispatcher dispatcher(options());
  const auto refusal = [&](std::span<const Field> problem) -> std::string {
    try {
      dispatcher.plan("smooth", problem);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  const Field missing[] = {{"n", 1}};
  EXPECT_THAT(refusal(missing), HasSubstr("has no taps"));
  const Field unknown[] = {{"n", 1}, {"taps", 1}, {"tips", 1}};
  EXPECT_THAT(refusal(unknown), HasSubstr("tips=1 is not a parameter of smooth"));
  const Field twice[] = {{"n", 1}, {"taps", 1}, {"n", 1}};
  EXPECT_THAT(refusal(twice), HasSubstr("n of the smooth problem is given twice"));
  const Field no_word[] = {{"n", 1}, {"taps", 1}, {"dtype", 3}};
  EXPECT_THAT(refusal(no_word), HasSubstr("dtype is 3; allowed are f32"));
  const Field other_word[] = {{"n", 1}, {"taps", 1}, {"dtype", "f17"}};
  EXPECT_THAT(refusal(other_word), HasSubstr("dtype is f17; allowed are f32"));
  const Field no_number[] = {{"n", "many"}, {"taps", 1}};
  EXPECT_THAT(refusal(no_number), HasSubstr("n is many; allowed are whole numbers"));
  const Field too_small[] = {{"n", 0}, {"taps", 1}};
  EXPECT_THAT(refusal(too_small), HasSubstr("n is 0; allowed are whole numbers"));
}

TEST_F(DispatcherTest, BadDevicesAreSentences) {
  for (const char* device : {"tpu", "cuda:x", "cuda:-1", "cuda:99", ""}) {
    DispatcherOptions other = options();
    other.device = device;
    EXPECT_THROW(Dispatcher{other}, std::runtime_error) << device;
  }
}

TEST_F(DispatcherTest, TheDatabaseIsNotChanged) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  std::filesystem::permissions(database(), std::filesystem::perms::owner_read);
  const auto size = std::filesystem::file_size(database());
  const auto time = std::filesystem::last_write_time(database());
  Dispatcher(options()).plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(std::filesystem::file_size(database()), size);
  EXPECT_EQ(std::filesystem::last_write_time(database()), time);
}

TEST_F(DispatcherTest, PlansAreKept) {
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=100 taps=5");
  EXPECT_EQ(&dispatcher.plan("smooth", "taps=5 n=100 dtype=f32").variant(), &plan.variant());
  const Field fields[] = {{"n", 100}, {"taps", 5}, {"dtype", "f32"}};
  const Field other_order[] = {{"taps", 5}, {"dtype", "f32"}, {"n", 100}};
  const Field initial_dtype[] = {{"n", 100}, {"taps", 5}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(&dispatcher.plan("smooth", fields).variant(), &plan.variant());
    EXPECT_EQ(&dispatcher.plan("smooth", other_order).variant(), &plan.variant());
    EXPECT_EQ(&dispatcher.plan("smooth", initial_dtype).variant(), &plan.variant());
  }
  EXPECT_EQ(&dispatcher.plan("smooth", Problem::parse("n=100 taps=5")).variant(), &plan.variant());
}

// These fields have the same hash, or names of the same length and other numbers.
TEST_F(DispatcherTest, FieldsThatDifferAreOtherProblems) {
  Dispatcher dispatcher(options());
  const auto problem_of = [&](std::span<const Field> fields) {
    return dispatcher.plan("smooth", fields).problem();
  };
  static constexpr char name[] = "taps";  // the same name at another address
  const Field single[] = {{"n", 64}, {"taps", 3}, {"dtype", "f32"}};
  const Field wide[] = {{"n", 64}, {"taps", 3}, {"dtype", "f64"}};
  const Field swapped[] = {{"taps", 64}, {"n", 3}, {"dtype", "f32"}};
  const Field elsewhere[] = {{"n", 64}, {name, 3}, {"dtype", "f32"}};
  for (int i = 0; i < 2; ++i) {  // made, then looked up
    EXPECT_EQ(problem_of(single), "n=64 taps=3 dtype=f32");
    EXPECT_EQ(problem_of(wide), "n=64 taps=3 dtype=f64");
    EXPECT_EQ(problem_of(swapped), "n=3 taps=64 dtype=f32");
    EXPECT_EQ(problem_of(elsewhere), "n=64 taps=3 dtype=f32");
  }
}

TEST_F(DispatcherTest, LookUpAndLaunchAllocateNothing) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  Dispatcher dispatcher(options());
  const Buffers buffers(find_op("smooth"), Problem::parse("n=1000 taps=5 dtype=f32"), 0, 1);
  const Field fields[] = {{"n", 1000}, {"taps", 5}, {"dtype", "f32"}};
  const std::string text = "n=1000 taps=5";
  const std::string function = "add";
  const std::vector<std::int64_t> shape = {61, 43};
  const std::vector<ElementwiseLayout> inputs = {{}, {.extents = {43}}};
  Plan plan = dispatcher.plan("smooth", text);
  plan = dispatcher.plan("smooth", fields);
  ASSERT_TRUE(plan.launch(buffers.arguments()).ok());
  Plan added = elementwise_plan(dispatcher, function, ElementType::f32, shape, inputs);
  const long before = allocations;
  bool all_ok = true;
  for (int i = 0; i < 10; ++i) {
    all_ok &= plan.launch(buffers.arguments()).ok();
    all_ok &= dispatcher.plan("smooth", fields).launch(buffers.arguments()).ok();
    all_ok &= dispatcher.plan("smooth", text).launch(buffers.arguments()).ok();
    added = elementwise_plan(dispatcher, function, ElementType::f32, shape, inputs);
  }
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(all_ok);
}

TEST_F(DispatcherTest, ThreadsMayShareAPlanAndADispatcher) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  Dispatcher dispatcher(options());
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, &dispatcher, t] {
      for (std::uint64_t i = 0; i < 20; ++i) {
        const Field fields[] = {{"n", 1000 + 4 * static_cast<std::int64_t>(i % 3)}, {"taps", 5}};
        check(dispatcher.plan("smooth", fields), "smooth", 0, 100 * t + i);
      }
    });
  }
}

TEST_F(DispatcherTest, ExplainIsShortUnlessAllIsAskedFor) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .median_us = 10});
  tune({.problem = "n=4000 taps=5", .config = "VECTOR=2", .median_us = 40});
  tune({.problem = "n=7 taps=3",
        .config = "VECTOR=1",
        .device = {.kind = DeviceKind::cuda, .name = "A GPU", .target = "sm_90a", .compute_capability = 90}});
  Dispatcher dispatcher(options());
  const std::string text = dispatcher.explain("smooth", "n=1200 taps=5");
  for (const char* words :
       {"Used, predicted, ", "By its times on the problems most like this one: 10.00 us for n=1000 taps=5",
        "\nNext, predicted, ", "is expected to gain ", "tunesmith tune smooth --problem \"n=1200 taps=5"})
    EXPECT_THAT(text, HasSubstr(words)) << words << " is not in\n" << text;
  EXPECT_THAT(text, Not(HasSubstr("Not used")));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 14) << text;
  const std::string all = dispatcher.explain("smooth", "n=1200 taps=5", true);
  EXPECT_THAT(all, HasSubstr("Not used: "));
  EXPECT_THAT(all, HasSubstr("variant: smooth/vector"));
  EXPECT_THAT(dispatcher.explain("smooth", "n=1000 taps=5"), Not(HasSubstr("By its times"))) << "it is tuned";
}

TEST_F(DispatcherTest, ExplainNamesEveryCandidate) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  tune({.problem = "n=7 taps=3", .config = "VECTOR=1", .hash = std::string(64, 'b')});
  Dispatcher dispatcher(options());
  const std::string text = dispatcher.explain("smooth", "n=1001 taps=10", true);
  for (const char* words :
       {"match: base", "n=1000 taps=5", "More than 9 taps", "n=7 taps=3", "has 2 winners", "compiled now"}) {
    EXPECT_THAT(text, HasSubstr(words)) << words << " is not in\n" << text;
  }
}

TEST_F(DispatcherTest, WhereNothingIsKnownASensibleTemplateComesBeforeTheBase) {
  const char* const problem = "height=45 width=64 mask_height=3 mask_width=3 boundary=reflect";
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("conv2d", problem);
  EXPECT_EQ(plan.match(), Match::base);
  EXPECT_EQ(plan.variant().template_name, "sliding");
  EXPECT_EQ(plan.unaligned_variant().template_name, "sliding");
  EXPECT_EQ(plan.unaligned_variant().config, plan.variant().config) << "it takes every pointer";
  EXPECT_TRUE(says(plan, "sensible without times"));
  check(plan, "conv2d");
  check(plan, "conv2d", 4);
  EXPECT_EQ(
      dispatcher.plan("conv2d", "height=45 width=64 mask_height=3 mask_width=3").variant().template_name,
      "sliding");

  DispatcherOptions later = options();
  later.cache_folder = (folder_ / "later").string();
  later.compile = Compile::never;
  EXPECT_EQ(Dispatcher(later).plan("conv2d", problem).variant().template_name, "base");
  later.compile = Compile::background;
  Dispatcher behind(later);
  const Plan first = behind.plan("conv2d", problem);
  EXPECT_EQ(first.variant().template_name, "base");
  EXPECT_TRUE(says(first, "Compiled in the background, for later plans: conv2d/sliding"));
  ASSERT_TRUE(behind.wait_until_ready(std::chrono::minutes(1)));
  EXPECT_TRUE(first.outdated());
  EXPECT_EQ(behind.plan("conv2d", problem).variant().template_name, "sliding");
}

// broadcast compiles in the layout of the inputs, so the library lacks it for most layouts; broadcast_any
// does not compile it in.
TEST_F(DispatcherTest, WhereASensibleTemplateIsNotThereTheNextOneIsTaken) {
  const Op& op = find_op("elementwise");
  const Template& any = find_template(op, "broadcast_any");
  const Problem other = complete_problem(op, Problem::parse("function=polar_distance shape=9x7 b=7 d=9x1"));
  const Source source = render(op, any, other, any.space(other).complete({}), "host");
  BinaryCache(options().cache_folder).put(source, binary_of(source));

  DispatcherOptions later = options();
  later.compile = Compile::never;
  Dispatcher dispatcher(later);
  const char* const problem = "function=polar_distance shape=4x5x6 a=5x6 b=4x1x6 c=1 d=4x5x6:90x7x1";
  for (const char* text :
       {problem, "function=polar_distance shape=3x2x4x2x5x3 a=2x1x2x1x3 b=3x1x4x1x5x1 d=3x2x1x2x1x3",
        "function=polar_distance shape=1003 a=1003:3", "function=polar_distance shape=64x64 c=64x1 d=64"}) {
    const Plan plan = dispatcher.plan("elementwise", text);
    EXPECT_EQ(plan.variant().template_name, "broadcast_any") << text;
    check(plan, "elementwise");
  }

  later.compile = Compile::background;
  Dispatcher behind(later);
  const Plan first = behind.plan("elementwise", problem);
  EXPECT_EQ(first.variant().template_name, "broadcast_any");
  EXPECT_TRUE(says(first, "Compiled in the background, for later plans: elementwise/broadcast in"));
  ASSERT_TRUE(behind.wait_until_ready(std::chrono::minutes(1)));
  EXPECT_TRUE(first.outdated());
  EXPECT_EQ(behind.plan("elementwise", problem).variant().template_name, "broadcast");
}

TEST_F(DispatcherTest, TypedConv2d) {
  Dispatcher dispatcher(options());
  const Conv2dShape shape{.batch = 2, .height = 13, .width = 17, .mask_height = 4, .mask_width = 3};
  const Op& op = find_op("conv2d");
  const auto run = [&]<typename T>(T, Conv2dMode mode) {
    // The typed function has the fields and words of the op.
    const Problem problem = complete_problem(
        op, Problem::parse("batch=2 height=13 width=17 mask_height=4 mask_width=3 mode=" +
                           std::string(mode == Conv2dMode::convolution ? "convolution" : "correlation") +
                           " boundary=zero dtype=" + (sizeof(T) == 8 ? "f64" : "f32")));
    EXPECT_EQ(conv2d_plan<T>(dispatcher, shape, mode).problem(), problem.text());
    const Buffers buffers(op, problem, 0, 3);
    const auto pointer = [&](std::size_t i) { return static_cast<T*>(buffers.arguments()[i]); };
    const Status status = conv2d(dispatcher, pointer(0), pointer(1), pointer(2), shape, mode);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(buffers.why_wrong(), "");
  };
  run(0.0f, Conv2dMode::correlation);
  run(0.0f, Conv2dMode::convolution);
  run(0.0, Conv2dMode::correlation);
  run(0.0, Conv2dMode::convolution);

  float values[600] = {};
  EXPECT_EQ(conv2d(dispatcher, values, values + 500, values, shape).code(), Status::overlapping_arguments);
  EXPECT_THROW(static_cast<void>(conv2d(dispatcher, values, values, values, {.height = 0, .width = 1})),
               std::runtime_error);
}

// A database's table is read when its op is first asked for.
TEST_F(DispatcherTest, ATableIsReadWithItsOp) {
  const auto put_table = [&](const std::string& lines) {
    Store store = Store::open(database(), Store::Mode::create);
    const auto device = store.id_of(row_of(facts()));
    store.put_anchor_table({.session_id = store.begin_session({.device_id = device}),
                            .device_id = device,
                            .op = "smooth",
                            .text = "op,smooth\nvariant,vector,BLOCK=32 VECTOR=2 STATE=none,\n" + lines});
  };
  put_table("anchor,n=4000 taps=5,20,20,20\n");
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  const Plan plan = Dispatcher(options()).plan("smooth", "n=4000 taps=5");
  EXPECT_EQ(plan.variant().config, "BLOCK=32 VECTOR=2 STATE=none");
  EXPECT_EQ(plan.expected_us(), 20);
  check(plan, "smooth");

  put_table("anchor,no=such,20,20,20\n");
  Dispatcher dispatcher(options());
  check(dispatcher.plan("conv2d", "height=4 width=5 mask_height=2 mask_width=2"), "conv2d");
  const Plan without = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(without.match(), Match::exact);
  const std::string said = dispatcher.explain("smooth", "n=1000 taps=5");
  EXPECT_THAT(said, HasSubstr("The table of smooth for "));
  EXPECT_THAT(said, HasSubstr(" cannot be used: "));
  check(without, "smooth");
}

// A version that counted comments as part of a kernel gave its kernels another suffix.
TEST_F(DispatcherTest, AStoredBinaryWithAnOlderSuffixIsLoaded) {
  tune({.problem = "n=1000 taps=3", .config = "VECTOR=1", .suffix = "_0badc0de"});
  DispatcherOptions without_compiler = options();
  without_compiler.compile = Compile::never;
  const Plan plan = Dispatcher(without_compiler).plan("smooth", "n=1000 taps=3");
  EXPECT_EQ(plan.match(), Match::exact);
  says(plan, "its binary is in the database");
  check(plan, "smooth");
}

TEST(Overlap, TheEnvironmentSwitchesIt) {
  ::unsetenv("TUNESMITH_OVERLAP");
  EXPECT_TRUE(default_overlap());
  for (const auto& [word, overlap] : std::map<std::string, bool>{{"", true}, {"on", true}, {"off", false}}) {
    ::setenv("TUNESMITH_OVERLAP", word.c_str(), 1);
    EXPECT_EQ(default_overlap(), overlap) << word;
    EXPECT_EQ(DispatcherOptions().overlap, overlap) << word;
  }
  ::unsetenv("TUNESMITH_OVERLAP");
}

// A working application does not end because of an environment variable.
TEST_F(DispatcherTest, AVariableThatIsNotUnderstoodIsANote) {
  for (const char* variable : {"TUNESMITH_OVERLAP", "TUNESMITH_CHECK_POINTERS"}) {
    EXPECT_EQ(Dispatcher(options()).notes().size(), 2u);
    ::setenv(variable, "1", 1);
    EXPECT_TRUE(DispatcherOptions().overlap);
    EXPECT_FALSE(DispatcherOptions().check_pointers);
    const Dispatcher dispatcher(options());
    EXPECT_EQ(dispatcher.notes().back(),
              std::string(variable) +
                  " is \"1\", which is not used; allowed are on and off. Set one of them or unset it.");
    ::unsetenv(variable);
  }
}

TEST(CheckPointers, TheEnvironmentSwitchesIt) {
  ::unsetenv("TUNESMITH_CHECK_POINTERS");
  EXPECT_FALSE(DispatcherOptions().check_pointers);
  ::setenv("TUNESMITH_CHECK_POINTERS", "on", 1);
  EXPECT_TRUE(DispatcherOptions().check_pointers);
  ::unsetenv("TUNESMITH_CHECK_POINTERS");
}

// The arrays between a user's launches are the plan's workspace.
TEST_F(DispatcherTest, RunsSeveralLaunchesOfAUsersKernel) {
  const std::string file = (folder_ / "doubled.cu").string();
  std::ofstream(file) << R"cu(/* tunesmith
name = "doubled"
[problem]
n = [1, 100000]
turns = [1, 100]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
most = { extents = [1], role = "output" }
between = { extents = ["n"], role = "workspace" }
parts = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
[axes]
BLOCK = [64, 128]
[[launch]]
kernel = "twice"
repeat = "turns"
swap = { from = "x", to = "y", spare = "between" }
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[[launch]]
kernel = "largest"
grid = "ceil_div(n, BLOCK)"
block = "1"
arguments = ["y", "parts", "n", "BLOCK"]
[[launch]]
kernel = "largest"
grid = 1
block = 1
arguments = ["parts", "most", "ceil_div(n, BLOCK)", "ceil_div(n, BLOCK)"]
*/
#define BLOCK 64
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void largest(const float* all, float* parts, int n, int each) {
  float most = all[blockIdx.x * each];
  for (int i = blockIdx.x * each; i < n && i < (blockIdx.x + 1) * each; ++i) most = fmaxf(most, all[i]);
  parts[blockIdx.x] = most;
}
)cu";
  DispatcherOptions with = options();
  with.kernels = {file};
  Dispatcher dispatcher(with);
  constexpr std::size_t n = 1000;
  for (const int turns : {1, 2, 5}) {
    const Plan plan = dispatcher.plan("doubled", "n=1000 turns=" + std::to_string(turns));
    EXPECT_EQ(plan.workspace_bytes(), 4096 + 256);
    alignas(256) static std::array<char, 4096 + 256> own;
    for (const float first : {1.0F, 300.0F}) {  // each with new numbers
      for (void* workspace : {static_cast<void*>(nullptr), static_cast<void*>(own.data())}) {
        own.fill('\xff');
        std::vector<float> x(n), y(n), most(1);
        for (std::size_t i = 0; i < n; ++i) x[i] = first + static_cast<float>(i * 7 % n);
        const std::vector<float> before = x;
        void* const arrays[] = {x.data(), y.data(), most.data()};
        const Status status = plan.launch(arrays, nullptr, workspace);
        ASSERT_TRUE(status) << status.message();
        for (std::size_t i = 0; i < n; ++i)
          EXPECT_EQ(y[i], before[i] * static_cast<float>(1 << turns)) << turns << " " << i;
        EXPECT_EQ(x, before);
        EXPECT_EQ(most[0], (first + 999) * static_cast<float>(1 << turns));
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith
