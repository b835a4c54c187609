// SPDX-License-Identifier: Apache-2.0
// Tests every op's templates on the GPU against the op's reference: many configs, on the problem that each
// was rendered for and its companions, once with NaN and infinities in the inputs and with minimally aligned
// pointers.
#include <gtest/gtest.h>

#include <iostream>

#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

class EveryTemplateOnGpu : public GpuTest, public testing::WithParamInterface<TemplateCase> {};

TEST_P(EveryTemplateOnGpu, IsRight) {
  const auto& [op, tmpl] = GetParam();
  std::vector<VariantCase> variants = test_variants(*op, *tmpl, 40, 3e8);
  std::erase_if(variants, [&](const VariantCase& variant) {
    return why_not(*tmpl, variant.problem, device().facts()) ||
           exceeds(tmpl->work(variant.problem, variant.config), device().facts());
  });
  if (variants.empty()) GTEST_SKIP() << "no problem of the test suits the template on this GPU";

  std::vector<Source> sources;
  for (const VariantCase& variant : variants)
    sources.push_back(render(*op, *tmpl, variant.problem, variant.config, device().facts().target));
  const std::unique_ptr<Toolchain> toolchain = make_nvrtc_toolchain();
  const std::vector<Compilation> compiled = compile_all(*toolchain, sources);

  OpChecker checker(device());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    ASSERT_TRUE(compiled[i].ok) << variants[i].config.text() << "\n" << compiled[i].log;
    for (const Problem& problem : served_problems(GetParam(), variants[i], device().facts())) {
      for (const bool special : {false, true})
        checker.check(GetParam(), compiled[i].bytes, sources[i].suffix, problem, variants[i].config, special);
    }
    if (HasFailure()) break;  // one config's report is enough
  }
  std::cout << op->name << "/" << tmpl->name << ": " << variants.size() << " variants, " << checker.runs()
            << " runs, " << checker.refused() << " refused by the device; the largest error is "
            << checker.worst() << " of what is permitted\n";
  EXPECT_GT(checker.runs(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryTemplateOnGpu, testing::ValuesIn(template_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.tmpl->name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryTemplateOnGpu);

}  // namespace
}  // namespace tunesmith
