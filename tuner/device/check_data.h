// SPDX-License-Identifier: Apache-2.0
// The data that a variant is checked with: inputs from a seed, their bytes, and the results of the op's
// reference. It knows no device.
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
/// the machine has processors. Rethrows an exception of `work`.
void in_chunks(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& work,
               std::size_t unit = 1);

/// Op::reference_unit, for in_chunks().
std::size_t reference_unit(const Op& op, const Problem& problem);

/// Conversion as by encode() and decode().
std::string pack(DType dtype, std::span<const double> values);
std::vector<double> unpack(DType dtype, std::string_view bytes);

/// The number of an op's sets of input values: the usual one, and as many as an input has contents.
int value_sets(const Op& op);
/// The factor on the reference's permitted error in a set of values: 1, or more if the values are such that
/// rounding of the inputs alone matters that much (Contents::distant).
double usual_errors(const Op& op, const Problem& problem, int set);
/// The contents of the inputs in a set above 0: "x holds numbers from -100 to 100".
std::string describe_inputs(const Op& op, int set);

/// Every argument's initial contents in the op's order (outputs empty), rounded to its dtype. In set 0 they
/// are usual_value(), unless the op says otherwise. The same seed gives the same values everywhere.
std::vector<std::vector<double>> make_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                                             int set = 0);

struct ExpectedOutput {
  std::vector<double> value;
  std::vector<double> permitted_error;  ///< absolute, per element
  /// The values of i64 and u64 if the reference gives integers and not doubles: all digits, as 8 bytes each.
  /// Else empty.
  std::string exact = {};
  /// Per element, the error that rounding of the terms alone may cause, if it is known: the result of a sum
  /// may be far smaller than its terms. This error is permitted too. Else empty.
  std::vector<double> error_of_terms = {};
};

/// True if an output is compared with integers of 64 bits, all of whose digits count: an output of a kernel
/// that is the reference of an op without a reference function. Device::compare() takes these integers as
/// b64.
bool is_exact(const Op& op, DType output);

/// The number as printf's %.9g writes it for 9 digits, in any locale; NaN is "NaN".
std::string number_text(double value, int digits = 9);

/// An element as text; two different integers give different texts.
std::string element_text(DType dtype, const char* element);

/// The bytes of each permitted error of an output as a device keeps it: a float, rounded up, or a double for
/// an f64.
std::int64_t permitted_bytes(DType output);
/// Converts permitted errors to and from that form; `from` points to as many.
std::string pack_permitted(DType output, std::span<const double> errors);
double unpack_permitted(DType output, const char* from);

/// The op's reference values of the argument `output`, computed by in_chunks().
ExpectedOutput reference_of(const Op& op, const Problem& problem, std::span<const std::vector<double>> inputs,
                            int output);
/// The same for each field of the output (fields.h): of structs one per member.
std::vector<ExpectedOutput> references_of(const Op& op, const Problem& problem,
                                          std::span<const std::vector<double>> inputs, int output);

}  // namespace tunesmith
