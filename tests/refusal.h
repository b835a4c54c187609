// SPDX-License-Identifier: Apache-2.0
// Tests why an op refuses a problem, and the sentences for other mistakes of a caller.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "generator/error.h"
#include "generator/op.h"

namespace tunesmith {

/// The sentence of the error; "" for a problem that the op accepts.
inline std::string refusal(const Op& op, const std::string& problem) {
  try {
    complete_problem(op, Problem::parse(problem));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

struct RefusalCase {
  std::string problem;
  std::string says;  ///< a part of the sentence; "": it is accepted
};

/// Expects refusals of an op; `common` stands before each problem.
inline void expect_refusals(const Op& op, const std::string& common,
                            std::initializer_list<RefusalCase> cases) {
  for (const RefusalCase& one : cases) {
    const std::string why = refusal(op, common + one.problem);
    EXPECT_TRUE(one.says.empty() ? why.empty() : why.find(one.says) != std::string::npos)
        << one.problem << ": " << why;
  }
}

/// Expects refusals of a template, for problems that its op accepts.
inline void expect_refusals(const Op& op, const char* tmpl, const std::string& common,
                            std::initializer_list<RefusalCase> cases) {
  for (const RefusalCase& one : cases) {
    const std::string why =
        find_template(op, tmpl).refuses(complete_problem(op, Problem::parse(common + one.problem)));
    EXPECT_TRUE(one.says.empty() ? why.empty() : why.find(one.says) != std::string::npos)
        << tmpl << " " << one.problem << ": " << why;
  }
}

/// The sentence of the UsageError that the action throws; "" if it throws none.
inline std::string error_of(auto action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tunesmith
