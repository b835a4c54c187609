// SPDX-License-Identifier: Apache-2.0
#include "dispatch/online_tuner.h"

#include <algorithm>
#include <chrono>

#include "dispatch/fork.h"
#include "dispatch/profiler_range.h"
#include "generator/element.h"
#include "runtime/time_sample.h"

namespace tunesmith {
namespace {

// The device's time for one problem; a trial that has begun is completed.
constexpr auto most_time = std::chrono::milliseconds(250);
constexpr double sample_us = 500;
constexpr int rounds = 9;
// After these rounds, a candidate this much slower than the best is left out.
constexpr int rounds_of_slow = 2;
constexpr double slow = 1.3;
constexpr double noise = 0.02;

// An array repeats a pattern of this many random values.
constexpr std::int64_t pattern_elements = std::int64_t{1} << 18;

}  // namespace

std::vector<std::byte> usual_values(DType dtype, std::size_t count) {
  std::vector<std::byte> made(count * static_cast<std::size_t>(bytes(dtype)));
  Random random(1);
  switch (dtype) {
    case DType::b8:
    case DType::b16:
    case DType::b32:
    case DType::b64:
    case DType::b128:  // their values have no meaning
      for (std::byte& byte : made) byte = static_cast<std::byte>(random.below(256));
      return made;
    default:
      break;
  }
  std::vector<double> values(count);
  for (double& value : values) value = usual_value(dtype, random);
  encode(dtype, values, reinterpret_cast<char*>(made.data()));
  return made;
}

std::vector<TriedVariant> rank(const std::vector<TrialCandidate>& candidates, Benchmark& benchmark,
                               const std::vector<void*>& arguments, const std::stop_token& stop) {
  struct Runner {
    std::size_t candidate;
    int launches = 1;
    std::vector<double> samples = {};
  };
  std::vector<Runner> running;
  std::vector<double> us(candidates.size());
  for (std::size_t r = 0; r < candidates.size(); ++r)
    if (candidates[r].executable) running.push_back({r});
  const auto measure = [&](Runner& runner) {
    try {
      const double time =
          benchmark.time_us(*candidates[runner.candidate].executable, arguments.data(), runner.launches);
      runner.samples.push_back(time);
    } catch (const Error&) {
      runner.samples.clear();
    }
    us[runner.candidate] = runner.samples.empty() ? 0 : summarize(runner.samples).median_us;
  };
  const Clock::time_point end = Clock::now() + most_time;
  for (int round = 0; round <= rounds && !stop.stop_requested(); ++round) {
    if (round > 1 && running.size() < 2) break;
    for (Runner& runner : running) {
      if (stop.stop_requested() || (round > 0 && Clock::now() > end)) break;
      if (round == 1) {  // the round before only warmed up, and chose the number of launches
        runner.launches = repeats_for(us[runner.candidate], sample_us);
        runner.samples.clear();
      }
      measure(runner);
      if (round == 0 && !runner.samples.empty()) {
        runner.samples.clear();
        measure(runner);
      }
    }
    std::erase_if(running, [](const Runner& runner) { return runner.samples.empty(); });
    if (round < rounds_of_slow || running.empty()) continue;
    double best = us[running.front().candidate];
    for (const Runner& runner : running) best = std::min(best, us[runner.candidate]);
    std::erase_if(running, [&](const Runner& runner) { return us[runner.candidate] > slow * best; });
  }
  std::vector<TriedVariant> tried;
  for (std::size_t r = 0; r < candidates.size(); ++r)
    tried.push_back({candidates[r].template_name, candidates[r].config, candidates[r].source_hash, us[r],
                     candidates[r].made_by});
  const TriedVariant first = tried.empty() ? TriedVariant() : tried.front();
  const auto key = [&](const TriedVariant& one) {
    const bool is_first = one == first;
    return one.us <= 0 ? 1e30 : one.us * (is_first ? 1 - noise : 1);
  };
  std::stable_sort(tried.begin(), tried.end(),
                   [&](const TriedVariant& a, const TriedVariant& b) { return key(a) < key(b); });
  return tried;
}

OnlineTuner::OnlineTuner(MakeBenchmark make_benchmark, const std::vector<FirstUseOutcome>& known)
    : make_benchmark_(std::move(make_benchmark)) {
  for (const FirstUseOutcome& one : known) tried_.try_emplace({one.op, one.problem}, one.tried);
}

std::vector<TriedVariant> OnlineTuner::find(const Op& op, const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  const auto known = tried_.find({op.name, problem});
  return known == tried_.end() ? std::vector<TriedVariant>() : known->second;
}

void OnlineTuner::try_out(const Op& op, const std::string& problem,
                          const std::vector<TrialCandidate>& candidates, const std::stop_token& stop) {
  const std::scoped_lock one_at_a_time(trying_);
  const ProfilerRange range("trial", op.name);
  const Key key(op.name, problem);
  for (const Argument& argument : op.arguments)
    if (argument.usual) return;  // such as indices: only the tuner makes valid values
  {
    const Inside inside;
    const std::scoped_lock lock(mutex_);
    if (here_.contains(key)) return;  // another thread was first
  }
  std::vector<TriedVariant> tried;
  try {
    const std::unique_ptr<Benchmark> benchmark = make_benchmark_();
    const Problem values = Problem::parse(problem);
    double wanted = 0;
    for (const Argument& argument : op.arguments) wanted += size_bytes(argument, values);
    if (wanted > static_cast<double>(benchmark->spare_bytes())) return;
    std::vector<void*> arguments;
    for (const Argument& argument : op.arguments) {
      const std::int64_t count = elements(argument, values);
      const DType dtype = argument.dtype(values);
      const std::int64_t random = argument.role == Role::output ? 0 : std::min(count, pattern_elements);
      arguments.push_back(
          benchmark->allocate(count * bytes(dtype), usual_values(dtype, static_cast<std::size_t>(random))));
      if (stop.stop_requested()) return;
    }
    tried = rank(candidates, *benchmark, arguments, stop);
  } catch (const Error&) {
    return;  // the plan stays as it is
  }
  if (stop.stop_requested() || tried.empty() || tried.front().us <= 0) return;
  const Inside inside;
  const std::scoped_lock lock(mutex_);
  tried_[key] = std::move(tried);
  here_.insert(key);
  new_.insert(key);
}

void OnlineTuner::write_new(const std::function<void(const std::vector<FirstUseOutcome>&)>& write) {
  const std::scoped_lock one_at_a_time(writing_);
  std::set<Key> keys;
  std::vector<FirstUseOutcome> outcomes;
  {
    const std::scoped_lock lock(mutex_);
    keys.swap(new_);
    for (const Key& key : keys) outcomes.push_back({key.first, key.second, tried_.at(key)});
  }
  if (outcomes.empty()) return;
  try {
    write(outcomes);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    new_.merge(keys);
    throw;
  }
}

}  // namespace tunesmith
