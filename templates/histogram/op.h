// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the op histogram share: a problem's sizes, its bins, and parts of several
// templates.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "templates/axes.h"

namespace tunesmith::histogram_op {

struct Dims {
  explicit Dims(const Problem& problem)
      : length(problem.integer("length")), bins(problem.integer("bins")), stride(problem.integer("stride")) {}

  std::int64_t length, bins, stride;
};

// ---- the bins

/// The number that a text says, or NaN if the text is no number.
double number(const std::string& text);
/// The shortest text that reads back as the same number.
std::string text(double number);

/// The distance between the edge type's numbers next to `size`, the magnitude of the larger limit.
double spacing(DType dtype, double size);

struct Range {
  explicit Range(const Problem& problem);
  Range(DType dtype, std::int64_t bins, double lo, double hi);

  double edge(std::int64_t i) const;  ///< edge i, as numpy.linspace computes it

  DType dtype;
  std::int64_t bins;
  double lo, hi, step, size;
};

/// The reason why a problem of `op` cannot have these limits, whose names end in `axis`; "" if it can.
std::string refuses_range(const Range& range, const std::string& op, const std::string& axis);

/// The numbers by which the kernels find a bin (histogram/bins.cuh): t = inverse * x + addend - 2^20, rounded
/// down to a multiple of 2^-32, is the distance of x above lo in bins, plus a bias.
struct Estimate {
  double inverse = 0;
  double addend = 0;
  std::int64_t window = 0;  // in units of 2^-32
};

Estimate estimate(const Range& range);

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int output,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error);

// ---- the templates

Template base();
Template shared();
Template gathered();
Template arrivals();
Template direct();
Template wide();

inline constexpr IntegerAxis COPIES("COPIES");
inline constexpr CategoricalAxis MERGE("MERGE");

Axis load_axis();
Axis merge_axis();
Axis vector_axis(const Problem& problem);
/// The reason why a template for elements of at most 4 bytes does not serve the problem; "" if it does.
std::string wider_than_four_bytes(const Problem& problem);
bool is_of_bytes(const Problem& problem);          ///< true if elements are bytes, which are counted by value
std::int64_t counters_of(const Problem& problem);  ///< of a copy
/// For `must`; `shared_bytes` are those of a block.
Rule counters_fit_rule(const std::function<std::int64_t(const Config&)>& shared_bytes);
Rule run_rule();  ///< for `worth`
/// For Template::untuned: as many copies of `counters` counters as fit in the shared memory of a block on
/// every GPU.
std::optional<Values> copies_that_fit(std::int64_t counters);

std::vector<KernelArgument> kernel_arguments(const Problem& problem);
LaunchNumbers numbers_of(const Range& range);            ///< the numbers that follow from the limits
std::vector<int> number_places(const Problem& problem);  ///< for each argument its place in these, or -1
Step zero_counts(const Problem& problem);
Values contiguous(const Problem& problem);
std::int64_t vector_bytes(const Problem& problem, const Config& config);
std::int64_t tile(const Config& c);  ///< elements that a block counts at a time

}  // namespace tunesmith::histogram_op
