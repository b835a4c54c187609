// SPDX-License-Identifier: Apache-2.0
// Every op's templates on the host against the op's reference: as few kernels as show every value of every
// axis and every word that is compiled in, but at least 8, each on all problems that it was rendered for,
// with the threads of a block in both orders, with the other sets of values, NaN and infinities among them,
// and in turns on their companions and on drawn problems. With TUNESMITH_TEST_TURN every third of these
// kernels is tested, and at most 8, with sanitizers a third of eight, on two other problems each. With
// TUNESMITH_TEST_CONFIGS=all all kernels are tested. TUNESMITH_TEST_DRAWN is the number of drawn problems per
// kernel.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "generator/sample.h"
#include "runtime/toolchain.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

std::size_t drawn_per_kernel() {
  const char* given = std::getenv("TUNESMITH_TEST_DRAWN");
  return given == nullptr ? 2 : std::stoul(given);
}

// The problems of `drawn`, from number `first` on, that the binary of `variant` serves.
std::vector<Problem> served_draws(const TemplateCase& which, const VariantCase& variant,
                                  const DeviceFacts& device, const std::vector<Problem>& drawn,
                                  std::size_t first) {
  const Values constants = compiled_in(*which.op, *which.tmpl, variant.problem);
  std::vector<Problem> served;
  for (std::size_t d = 0; d < drawn.size() && served.size() < drawn_per_kernel(); ++d) {
    Problem problem = with_constants_of(*which.op, drawn[(first + d) % drawn.size()], variant.problem,
                                        sample_limits(DeviceKind::host));
    if (why_not(*which.tmpl, problem, device) || which.tmpl->space(problem).why_not(variant.config.values()))
      continue;
    if (compiled_in(*which.op, *which.tmpl, problem) == constants) served.push_back(std::move(problem));
  }
  return served;
}

class EveryTemplateOnHost : public testing::TestWithParam<TemplateCase> {
 protected:
  std::unique_ptr<Device> device_ = make_host_device();
};

TEST_P(EveryTemplateOnHost, IsRight) {
  const auto& [op, tmpl] = GetParam();
  if (tmpl->minimum_compute_capability > 0) GTEST_SKIP() << "the template has no host twin";
#ifdef __SANITIZE_ADDRESS__  // looking for configs takes minutes then, so that two problems have their turn
  std::vector<Problem> all = test_problems(*op, 1, 4e6);
  std::erase_if(all, [&, &tmpl = tmpl](const Problem& problem) {
    return why_not(*tmpl, problem, device_->facts()).has_value();
  });
  std::vector<VariantCase> variants = dealt_variants(*tmpl, in_turn(std::move(all), 3, GetParam(), 2), 1, 2);
#else
  std::vector<VariantCase> variants = test_variants(*op, *tmpl, random_configs(1), 4e6);
#endif
  std::erase_if(variants, [&](const VariantCase& variant) {
    return exceeds(tmpl->work(variant.problem, variant.config), device_->facts()).has_value();
  });
  ASSERT_FALSE(variants.empty());
  const auto rendered = [&](const VariantCase& variant) {
    return render(*op, *tmpl, variant.problem, variant.config, "host");
  };
  const auto words = [](const VariantCase& variant) { return words_of(GetParam(), variant); };
#ifdef __SANITIZE_ADDRESS__  // they make it three times as slow
  variants = sampled(std::move(variants), 6, words);
  if (variants.size() > 8) variants.resize(8);
  variants = in_turn(std::move(variants), 3, GetParam());
#else
  std::vector<VariantCase> kernels;  // one variant per kernel
  std::set<std::string> seen;
  for (const VariantCase& variant : variants)
    if (seen.insert(rendered(variant).hash).second) kernels.push_back(variant);
  seen.clear();
  for (const VariantCase& variant : in_turn(sampled(std::move(kernels), 8, words), 3, GetParam(), 8))
    seen.insert(rendered(variant).hash);
  std::erase_if(variants, [&](const VariantCase& variant) { return !seen.contains(rendered(variant).hash); });
#endif
  std::vector<Source> sources;
  for (const VariantCase& variant : variants) sources.push_back(rendered(variant));
  const std::vector<Compilation> compiled = compile_all(*make_host_toolchain(), sources);

  const std::vector<Problem> drawn =
      sample_problems(*op, std::max<std::size_t>(60, drawn_per_kernel()), 3, sample_limits(DeviceKind::host));
  const bool takes_all = random_configs(0) == all_configs;
  OpChecker checker(*device_);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    ASSERT_TRUE(compiled[i].ok) << variants[i].config.text() << "\n" << compiled[i].log;
    std::vector<Problem> problems = served_problems(GetParam(), variants[i], device_->facts());
    std::ranges::move(served_draws(GetParam(), variants[i], device_->facts(), drawn, 7 * i),
                      std::back_inserter(problems));
#ifdef __SANITIZE_ADDRESS__  // the problem that a kernel was rendered for, and two others
    std::vector<Problem> others(problems.begin() + 1, problems.end());
    problems.resize(1);
    if (!others.empty())
      std::ranges::move(in_turn(std::move(others), 3, GetParam(), 2), std::back_inserter(problems));
#endif
    for (std::size_t p = 0; p < problems.size(); ++p) {
      for (const bool special : {false, true}) {
        for (const bool reverse : {false, true}) {
          // Companions, drawn problems and, with sanitizers, all problems take one of the four combinations
          // in turns; the problem that a kernel was rendered for takes both values and both orders, in pairs
          // that change.
#ifdef __SANITIZE_ADDRESS__
          constexpr bool takes_one = true;
#else
          const bool takes_one = p > 0;
#endif
          const std::size_t turn = (special ? 2U : 0U) + (reverse ? 1U : 0U);
          const bool is_taken =
              takes_all || (takes_one ? (i + p) % 4 == turn : (turn % 3 == 0) == (i % 2 == 0));
          if (!is_taken) continue;
          // The other sets of values, one per variant, are used together with NaN and infinity.
          const int set = special ? 1 + static_cast<int>(i) % std::max(value_sets(*op) - 1, 1) : 0;
          checker.check(GetParam(), compiled[i].bytes, sources[i].suffix, problems[p], variants[i].config,
                        special, reverse, set);
        }
      }
    }
  }
  RecordProperty("variants", static_cast<int>(variants.size()));
  RecordProperty("runs", checker.runs());
  EXPECT_GT(checker.runs(), 0);
  EXPECT_EQ(checker.failed(), 0) << "of " << checker.runs() << " runs failed; the first is above";
  EXPECT_EQ(checker.refused(), 0) << "a binary that does not load hides what it would have done";
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryTemplateOnHost, testing::ValuesIn(template_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.tmpl->name; });

}  // namespace
}  // namespace tunesmith
