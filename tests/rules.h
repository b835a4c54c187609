// SPDX-License-Identifier: Apache-2.0
// Expects the answers of an op's templates to a config: refused with a reason, or legal and not promising.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "generator/op.h"

namespace tunesmith {

struct RuleCase {
  const char* tmpl;
  std::string problem;
  const char* config;   ///< changes of the template's first config
  const char* refused;  ///< a part of the reason; "": legal, and not promising
};

inline void expect_rules(const Op& op, std::span<const RuleCase> cases) {
  for (const RuleCase& each : cases) {
    SCOPED_TRACE(std::string(each.tmpl) + " " + each.problem + " " + each.config);
    const Space space =
        find_template(op, each.tmpl).space(complete_problem(op, Problem::parse(each.problem)));
    Values values = space.complete({}).values();
    const Values changed = Values::parse(each.config);
    for (const auto& [name, value] : changed.entries()) values.set(name, value);
    const std::string why = space.why_not(values).value_or("");
    if (*each.refused != 0) {
      EXPECT_NE(why.find(each.refused), std::string::npos) << why;
      continue;
    }
    ASSERT_EQ(why, "");
    EXPECT_GT(space.broken_worth(space.legal(values)), 0u);
  }
}

}  // namespace tunesmith
