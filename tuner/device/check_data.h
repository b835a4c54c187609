// SPDX-License-Identifier: Apache-2.0
// What a variant is checked with: inputs from a seed, their bytes, and the op's reference. It knows no
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/element.h"
#include "generator/op.h"

namespace tunesmith {

/// Calls `work` with ranges that cover [0, count) and begin at multiples of `unit`, from as many threads as
/// the machine has processors. Rethrows what one of them throws.
void in_chunks(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& work,
               std::size_t unit = 1);

/// Op::reference_unit, for in_chunks().
std::size_t reference_unit(const Op& op, const Problem& problem);

/// As encode() and decode().
std::string pack(DType dtype, std::span<const double> values);
std::vector<double> unpack(DType dtype, std::string_view bytes);

/// How many sets of values an op's inputs have: the usual one, and as many as an input has contents.
int value_sets(const Op& op);
/// So many times what the reference permits is permitted in a set of values: 1, or more where these lie so
/// that rounding of the inputs alone counts that much (Contents::distant).
double usual_errors(const Op& op, const Problem& problem, int set);
/// What the inputs hold in a set above 0: "x holds numbers from -100 to 100".
std::string describe_inputs(const Op& op, int set);

/// Every argument's initial contents in the op's order (outputs empty), rounded to its dtype: in set 0, where
/// the op says nothing else, usual_value(). The same seed gives the same values everywhere.
std::vector<std::vector<double>> make_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                                             int set = 0);

struct ExpectedOutput {
  std::vector<double> value;
  std::vector<double> permitted_error;  ///< absolute, per element
  /// Of i64 and u64 where the reference gives integers and not doubles: all digits, as 8 bytes each. Else
  /// empty.
  std::string exact = {};
  /// Per element what rounding of the terms alone may make of it, where that is known: the result of a sum
  /// may be far smaller than they are. It is permitted too. Else empty.
  std::vector<double> error_of_terms = {};
};

/// Whether an output is compared with integers of 64 bits, all of whose digits count: those of a kernel,
/// which is an op's reference where it has no function. Device::compare() takes them as b64.
bool is_exact(const Op& op, DType output);

/// As printf's %.9g for 9 digits, whatever the locale; NaN is "NaN".
std::string number_text(double value, int digits = 9);

/// An element as text, in which two different integers differ.
std::string element_text(DType dtype, const char* element);

/// Permitted errors of an output as a device keeps them: floats, rounded up, or doubles for an f64; the bytes
/// of each.
std::int64_t permitted_bytes(DType output);
/// To and from these; `from` points to as many.
std::string pack_permitted(DType output, std::span<const double> errors);
double unpack_permitted(DType output, const char* from);

/// The op's reference of the argument `output`, computed in_chunks().
ExpectedOutput reference_of(const Op& op, const Problem& problem, std::span<const std::vector<double>> inputs,
                            int output);

}  // namespace tunesmith
