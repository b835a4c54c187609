// SPDX-License-Identifier: Apache-2.0
// Compares an op of a signal or an image and of weights with numbers from SciPy: its reference, and the
// launches of a dispatcher. Tests of the image ops use it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/op.h"
#include "tuner/device/check_data.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {

struct ScipyCase {
  const char* problem;
  std::vector<double> output;
};

/// The inputs, in NumPy (numpy.arange(n) * 7 + 3) % 11 and (numpy.arange(n) * 5 + 1) % 7 - 3.
inline std::vector<std::vector<double>> scipy_inputs(const Op& op, const Problem& problem) {
  std::vector<std::vector<double>> inputs(2);
  for (std::int64_t n = 0; n < elements(op.arguments[0], problem); ++n)
    inputs[0].push_back(static_cast<double>((n * 7 + 3) % 11));
  for (std::int64_t n = 0; n < elements(op.arguments[1], problem); ++n)
    inputs[1].push_back(static_cast<double>((n * 5 + 1) % 7 - 3));
  return inputs;
}

inline void expect_reference_is_scipys(const Op& op, const std::vector<ScipyCase>& cases) {
  for (const ScipyCase& one : cases) {
    const Problem problem = complete_problem(op, Problem::parse(one.problem));
    EXPECT_EQ(reference_of(op, problem, scipy_inputs(op, problem), 2).value, one.output) << one.problem;
  }
}

/// Checks launches for each type of the signal or the image.
inline void expect_launches_are_scipys(const Op& op, const std::vector<ScipyCase>& cases) {
  Dispatcher dispatcher({.device = "host", .database = "", .compile = Compile::never, .cache_folder = ""});
  for (const ScipyCase& one : cases) {
    for (const Parameter& parameter : op.parameters) {
      if (parameter.name != "dtype") continue;
      for (const std::string& dtype : parameter.categories) {
        Problem given = Problem::parse(one.problem);
        given.set("dtype", dtype);
        const Problem problem = complete_problem(op, given);
        std::vector<std::vector<double>> contents = scipy_inputs(op, problem);
        contents.emplace_back(one.output.size(), 1e9);
        std::vector<std::string> arrays;
        for (std::size_t a = 0; a < 3; ++a)
          arrays.push_back(pack(op.arguments[a].dtype(problem), contents[a]));
        void* const arguments[] = {arrays[0].data(), arrays[1].data(), arrays[2].data()};
        const Status status = dispatcher.plan(op.name, problem).launch(arguments);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(unpack(op.arguments[2].dtype(problem), arrays[2]), one.output) << problem.text();
      }
    }
  }
}

}  // namespace tunesmith
