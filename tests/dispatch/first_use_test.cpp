// Variants that are tried when a problem is first used: how they are ranked, what is kept, and when it
// counts.
#include "dispatch/first_use.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>

#include "fixture.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

// Does nothing; a rehearsal knows its time.
class Timed : public Executable {
 public:
  explicit Timed(double us) : us_(us) {}
  BinaryFacts facts() const override { return {}; }
  std::unique_ptr<Executable> with(const Work&) const override { return nullptr; }
  int launch(void* const*, void*, void*, const LaunchNumbers*) noexcept override { return 0; }
  bool makes_workspaces() const noexcept override { return true; }
  std::string describe(int) const override { return "none"; }
  double us() const { return us_; }

 private:
  double us_;
};

class FakeRehearsal : public Rehearsal {
 public:
  std::int64_t spare_bytes() const override { return 1 << 20; }
  void* allocate(std::int64_t bytes, std::span<const std::byte>) override {
    allocated += bytes;
    return this;
  }
  double time_us(Executable& executable, void* const*, int launches) override {
    const double us = dynamic_cast<Timed&>(executable).us();
    ++samples[us];
    if (us < 0) throw Error("The launch failed.");
    most_launches = std::max(most_launches, launches);
    return samples[us] == 1 ? 10 * us : us;  // the first launch is always slow
  }
  std::map<double, int> samples;
  int most_launches = 0;
  std::int64_t allocated = 0;
};

std::vector<Rival> rivals_of(const std::vector<double>& times) {
  std::vector<Rival> rivals;
  rivals.reserve(times.size());
  for (const double us : times)
    rivals.push_back(
        {"t", "A=" + std::to_string(rivals.size()), us == 0 ? nullptr : std::make_unique<Timed>(us)});
  return rivals;
}

std::string order(const std::vector<TriedVariant>& tried) {
  std::string text;
  for (const TriedVariant& one : tried) text += one.config.substr(2);
  return text;
}

TEST(FirstUseRank, TheFastestIsFirstAndNoiseChangesNothing) {
  FakeRehearsal rehearsal;
  const auto tried = rank(rivals_of({30, 20, 25}), rehearsal, {}, {});
  EXPECT_EQ(order(tried), "120");
  EXPECT_EQ(tried[0].us, 20);
  EXPECT_EQ(rehearsal.most_launches, 25);
  EXPECT_EQ(order(rank(rivals_of({20.2, 20}), rehearsal, {}, {})), "01");
  EXPECT_EQ(order(rank(rivals_of({20.5, 20}), rehearsal, {}, {})), "10");
}

TEST(FirstUseRank, WhatIsSlowOrFailsIsLeftOut) {
  FakeRehearsal rehearsal;
  const auto tried = rank(rivals_of({100, -1, 20, 0, 21}), rehearsal, {}, {});
  EXPECT_EQ(order(tried).substr(0, 3), "240");
  EXPECT_EQ(tried[3].us, 0);
  EXPECT_EQ(tried[4].us, 0);
  EXPECT_EQ(rehearsal.samples[-1], 1);
  EXPECT_LT(rehearsal.samples[100], 5);
  EXPECT_GT(rehearsal.samples[20], 5);
  EXPECT_EQ(rehearsal.samples[20], rehearsal.samples[21]);
}

TEST(FirstUseRank, TimeIsBounded) {
  FakeRehearsal rehearsal;
  std::stop_source stop;
  stop.request_stop();
  rank(rivals_of({20, 30}), rehearsal, {}, stop.get_token());
  EXPECT_TRUE(rehearsal.samples.empty());
}

TEST(FirstUseValues, AreThoseThatOpsAreTunedWith) {
  const auto values = [](auto type, DType dtype) {
    const std::vector<std::byte> bytes = usual_values(dtype, 1000);
    std::vector<decltype(type)> numbers(1000);
    EXPECT_EQ(bytes.size(), numbers.size() * sizeof(type));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  };
  const auto expect_range = [](const auto& numbers, double low, double high) {
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    EXPECT_GE(static_cast<double>(*least), low);
    EXPECT_LT(static_cast<double>(*least), low + 0.1 * (high - low));
    EXPECT_LE(static_cast<double>(*most), high);
    EXPECT_GT(static_cast<double>(*most), high - 0.1 * (high - low));
  };
  expect_range(values(0.0f, DType::f32), -1, 1);
  expect_range(values(0.0, DType::f64), -1, 1);
  expect_range(values(std::int32_t{}, DType::i32), -100, 100);
  expect_range(values(std::int64_t{}, DType::i64), -100, 100);
  expect_range(values(std::uint8_t{}, DType::u8), 0, 200);
  std::vector<double> halves, bfloats;
  for (const std::uint16_t bits : values(std::uint16_t{}, DType::f16)) {
    const double magnitude = std::ldexp(1.0 + (bits & 0x3ff) / 1024.0, (bits >> 10 & 31) - 15);
    halves.push_back((bits & 0x8000) != 0 ? -magnitude : magnitude);
  }
  for (const std::uint16_t bits : values(std::uint16_t{}, DType::bf16)) {
    const double magnitude = std::ldexp(1.0 + (bits & 0x7f) / 128.0, (bits >> 7 & 255) - 127);
    bfloats.push_back((bits & 0x8000) != 0 ? -magnitude : magnitude);
  }
  expect_range(halves, -1, 1);
  expect_range(bfloats, -1, 1);
  EXPECT_EQ(usual_values(DType::b128, 3).size(), 48u);
}

class FirstUseTest : public DispatcherTest {
 protected:
  FirstUseTest() {
    tune({.problem = "n=1000 taps=5", .config = fast, .median_us = 10});
    tune({.problem = "n=1004 taps=5", .config = slow, .median_us = 10});
  }
  static constexpr const char* fast = "BLOCK=32 VECTOR=1 STATE=none";
  static constexpr const char* slow = "BLOCK=64 VECTOR=1 STATE=none";

  DispatcherOptions trying(Compile compile = Compile::now) const {
    DispatcherOptions chosen = options();
    chosen.compile = compile;
    chosen.tune_on_first_use = 2;
    return chosen;
  }
  static std::string key(const std::string& problem) {
    const DeviceFacts host = host_facts();
    return host.name + " " + host.target + " " + std::to_string(host.multiprocessors) + "\nsmooth " +
           problem + "\n";
  }
  BinaryCache cache() const { return BinaryCache(options().cache_folder); }
  static std::string entry(const std::string& problem) { return "first-use-" + sha256(key(problem)); }
  void store(const std::string& problem, const std::string& lines) const {
    cache().put(entry(problem), key(problem) + lines);
  }
  static bool is_tried(const Plan& plan) {
    const std::vector<std::string> say = plan.explanation();
    return std::any_of(say.begin(), say.end(), [](const std::string& one) {
      return one == "Of 2 that were tried here when the problem was first used it was the fastest.";
    });
  }
};

TEST_F(FirstUseTest, TheFastestIsUsedAndKeptForTheNextProcess) {
  const std::string problem = "n=2000 taps=5 dtype=f32";
  Dispatcher dispatcher(trying());
  const Plan plan = dispatcher.plan("smooth", problem);
  EXPECT_TRUE(is_tried(plan));
  EXPECT_EQ(plan.match(), Match::predicted);
  EXPECT_GT(plan.expected_us(), 0);
  EXPECT_FALSE(plan.outdated());
  check(plan, "smooth");
  check(plan, "smooth", 4);

  const std::string stored = cache().find(entry(problem)).value_or("");
  EXPECT_EQ(stored.find(key(problem)), 0u);
  EXPECT_NE(stored.find(std::string(" vector ") + fast + "\n"), std::string::npos) << stored;
  EXPECT_NE(stored.find(std::string(" vector ") + slow + "\n"), std::string::npos) << stored;
  Dispatcher next(trying());
  const Plan again = next.plan("smooth", problem);
  EXPECT_TRUE(is_tried(again));
  EXPECT_EQ(again.variant().config, plan.variant().config);
  EXPECT_NEAR(again.expected_us(), plan.expected_us(), 0.001);
  EXPECT_EQ(cache().find(entry(problem)), stored) << "nothing was tried again";
}

// Whichever it was.
TEST_F(FirstUseTest, WhatIsStoredDecides) {
  for (const std::string config : {slow, fast}) {
    const std::string other = config == slow ? fast : slow;
    store("n=2000 taps=5 dtype=f32", "7.5 vector " + config + "\n9.000 vector " + other + "\n");
    const Plan plan = Dispatcher(trying()).plan("smooth", "n=2000 taps=5");
    EXPECT_EQ(plan.variant().config, config);
    EXPECT_EQ(plan.expected_us(), 7.5);
    check(plan, "smooth");
    DispatcherOptions off = trying();
    off.tune_on_first_use = 0;
    EXPECT_FALSE(is_tried(Dispatcher(off).plan("smooth", "n=2000 taps=5")));
  }
}

TEST_F(FirstUseTest, ATunedProblemIsNotTried) {
  store("n=1000 taps=5 dtype=f32", std::string("7.5 vector ") + slow + "\n9.0 vector " + fast + "\n");
  Dispatcher dispatcher(trying());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::exact);
  EXPECT_EQ(plan.variant().config, fast);
  EXPECT_FALSE(is_tried(plan));
}

TEST_F(FirstUseTest, WhatIsStoredIsTriedAgainWhereItCannotCount) {
  const std::string problem = "n=2000 taps=5 dtype=f32";
  const char* wrong[] = {
      "7.5 vector BLOCK=32 VECTOR=4 STATE=none\n8.0 vector BLOCK=64 VECTOR=2 STATE=none\n",  // others promise
                                                                                             // more now
      "7.5 nothing A=1\n", "soon vector A=1\n", "", "\n\n", "-3 vector A=1\n"};
  for (const char* lines : wrong) {
    store(problem, lines);
    EXPECT_TRUE(is_tried(Dispatcher(trying()).plan("smooth", problem))) << lines;
    EXPECT_NE(cache().find(entry(problem)), key(problem) + lines);
  }
  // Another problem's, and a damaged one.
  cache().put(entry(problem), key("n=2004 taps=5 dtype=f32") + "7.5 vector " + slow + "\n");
  EXPECT_TRUE(is_tried(Dispatcher(trying()).plan("smooth", problem)));
  std::ofstream(std::filesystem::path(options().cache_folder) / entry(problem)) << "no hash";
  EXPECT_TRUE(is_tried(Dispatcher(trying()).plan("smooth", problem)));
}

TEST_F(FirstUseTest, ItIsDoneBehindThePlan) {
  for (const Compile compile : {Compile::background, Compile::never}) {
    std::filesystem::remove_all(options().cache_folder);
    { Dispatcher(options()).plan("smooth", "n=10 taps=10"); }  // the base goes to the cache
    Dispatcher dispatcher(trying(compile));
    const Plan first = dispatcher.plan("smooth", "n=2000 taps=5");
    check(first, "smooth");
    ASSERT_TRUE(dispatcher.wait_until_ready());
    EXPECT_TRUE(first.outdated());
    EXPECT_FALSE(is_tried(first));
    const Plan plan = dispatcher.plan("smooth", "n=2000 taps=5");
    EXPECT_TRUE(is_tried(plan));
    EXPECT_FALSE(plan.outdated());
    check(plan, "smooth");
    const std::vector<Usage> uses = dispatcher.summary();
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].launches, 2u) << "what was tried does not count";
    EXPECT_EQ(uses[0].expected_us, plan.expected_us());
  }
}

TEST_F(FirstUseTest, ADispatcherMayGoMeanwhile) {
  for (int i = 0; i < 5; ++i) {
    Dispatcher dispatcher(trying(Compile::background));
    check(dispatcher.plan("smooth", "n=" + std::to_string(100000 + i) + " taps=5"), "smooth");
  }
}

TEST_F(FirstUseTest, NothingIsTriedWithoutMemoryOrADevice) {
  const Op& op = find_op("smooth");
  auto* rehearsal = new FakeRehearsal;
  FirstUse first_use(
      host_facts(), [&] { return std::unique_ptr<Rehearsal>(rehearsal); }, BinaryCache(""));
  first_use.try_out(op, "n=200000 taps=5 dtype=f32", rivals_of({30, 20}), {});  // 1.6 MB; 1 MiB is to spare
  EXPECT_TRUE(first_use.find(op, "n=200000 taps=5 dtype=f32").empty());
  rehearsal = new FakeRehearsal;
  first_use.try_out(op, "n=20000 taps=5 dtype=f32", rivals_of({30, 20}), {});
  EXPECT_EQ(order(first_use.find(op, "n=20000 taps=5 dtype=f32")), "10");
  rehearsal = new FakeRehearsal;
  first_use.try_out(op, "n=3000 taps=5 dtype=f32", rivals_of({-2, -3}), {});
  EXPECT_TRUE(first_use.find(op, "n=3000 taps=5 dtype=f32").empty());
  FirstUse refused(
      host_facts(), []() -> std::unique_ptr<Rehearsal> { throw LoadError("No device."); }, BinaryCache(""));
  refused.try_out(op, "n=20000 taps=5 dtype=f32", rivals_of({30, 20}), {});
  EXPECT_TRUE(refused.find(op, "n=20000 taps=5 dtype=f32").empty());
}

TEST(HostRehearsal, MemoryHoldsThePattern) {
  const auto rehearsal = make_host_rehearsal();
  EXPECT_GT(rehearsal->spare_bytes(), 0);
  const std::byte pattern[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  const auto* memory = static_cast<const std::byte*>(rehearsal->allocate(10, pattern));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(memory[i], pattern[i % 3]);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
  const auto* zeros = static_cast<const std::byte*>(rehearsal->allocate(10, {}));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(zeros[i], std::byte{0});
  EXPECT_NE(rehearsal->allocate(0, {}), nullptr);
}

}  // namespace
}  // namespace tunesmith
