// SPDX-License-Identifier: Apache-2.0
// An op: its parameters, arguments, reference and templates, as plain data and pure functions.
// An op folder's op.cpp returns one `Op`; everything else (CLI, tests, tuner, dispatch) works from it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "generator/argument.h"
#include "generator/device_facts.h"
#include "generator/dtype.h"
#include "generator/parameter.h"
#include "generator/problem.h"
#include "generator/space.h"
#include "generator/template.h"
#include "generator/values.h"
#include "generator/work.h"

namespace tunesmith {

/// Computes elements [begin, end) of the argument `output` in double precision, and the absolute error that
/// the contract permits for each: the op states its accuracy here. The error is infinity only where the
/// contract promises nothing for the element; where the value is infinite it is 0, not a bound that grew to
/// infinity. `arguments` holds every argument's initial contents in the order of Op::arguments (outputs
/// empty). Called from several threads on different ranges.
using Reference = std::function<void(const Problem&, std::span<const std::vector<double>> arguments,
                                     int output, std::int64_t begin, std::int64_t end,
                                     std::span<double> value, std::span<double> permitted_error)>;

/// Small problems (odd sizes, sizes of 1, masks larger than the image) on which a variant rendered for a
/// problem must be right too. They are texts such as "height=1 width=67" that override values of the problem,
/// or a function of it. They agree with the problem in everything that any template compiles in.
class Companions {
 public:
  Companions() = default;
  Companions(std::initializer_list<const char*> texts);
  template <typename Function>
  requires std::is_invocable_r_v < std::vector<Problem>,
  const Function&, const Problem& > Companions(Function function) : function_(std::move(function)) {}
  std::vector<Problem> operator()(const Problem& problem) const {
    return function_ ? function_(problem) : std::vector<Problem>();
  }

 private:
  std::function<std::vector<Problem>(const Problem&)> function_;
};

class Random;
struct UserKernel;

/// File texts by their path below templates/: "conv2d/tiled.cu", "common/vector.cuh".
using Files = std::map<std::string, std::string, std::less<>>;

/// Makes what the kernels take (Launch::numbers) from the numbers that a launch is given: one for each of the
/// op's at_launch parameters, in their order. Returns a sentence on why the numbers are not allowed, or "";
/// in that case it has allocated nothing. Several threads may call it at the same time.
using MakeNumbers = std::function<std::string(std::span<const double> given, LaunchNumbers& made)>;

struct Op {
  std::string name;
  std::string what;  ///< a sentence with the mathematics
  std::vector<Parameter> parameters;
  /// Rewrites a problem as a person may write it, perhaps with further names, to the op's parameters in the
  /// one form in which it is stored; a stored problem stays as it is. Throws UsageError. Null: problems stay
  /// as written.
  std::function<Problem(const Problem& given)> rewritten = nullptr;
  /// Returns a sentence on why values that are allowed one by one are not allowed together; empty if they
  /// are. Null: all are allowed.
  std::function<std::string(const Problem&)> check = nullptr;
  std::vector<Argument> arguments;
  /// The first is the template of the base: it serves every problem and compiles in dtype and other
  /// categories at most.
  std::vector<Template> templates;
  /// Makes the text between the constants and the body, for generated code; it depends only on what every
  /// template compiles in. Null: no such text.
  std::function<std::string(const Problem&)> preamble = nullptr;
  Reference reference;
  /// The number of elements of an output, aligned to a multiple of itself, that one call of the reference
  /// computes faster than one by one, such as a line along which sums are carried. Null: 1.
  std::function<std::int64_t(const Problem&)> reference_unit = nullptr;
  std::function<double(const Problem&)> flops;  ///< the number of operations that must be done
  /// The bytes that must be moved. Null: each argument's bytes, twice for an inout (see bytes_moved()).
  std::function<double(const Problem&)> bytes_moved = nullptr;
  Companions companions = {};
  /// Returns the MakeNumbers of a problem whose launches may be given numbers; null for a problem whose
  /// launches take none. Null: no problem's launches take numbers.
  std::function<MakeNumbers(const Problem&)> launch_numbers = nullptr;
  /// The integers from which distance() computes how near two problems are. Null: the integer parameters.
  std::function<Values(const Problem&)> sizes = nullptr;
  /// Returns a text of what two problems must have in common so that a time on one says something of the
  /// other, such as the dtype. Its tables have a portfolio for each kind, and its configs are used for all
  /// problems of a kind (choose/nearest.h, config_on). Null: all problems are of one kind, and a config is
  /// used only where it is legal.
  std::function<std::string(const Problem&)> kind = nullptr;
  /// Problems as text that together reach every template and every corner of the contract; tests run them in
  /// addition to random ones.
  std::vector<std::string> examples = {};
  /// Problems with an array of more than 2^31 elements; tests run them on a GPU and compare samples of the
  /// elements.
  std::vector<std::string> large_examples = {};
  /// Makes a randomly drawn problem more like those of users, or sets what cannot be drawn parameter by
  /// parameter (sample.h). The result need not be allowed. Null: the problem stays as drawn.
  std::function<void(Random&, Problem&)> sample = nullptr;
  /// Only for a user's kernel, else empty and null: the path of its .cu as it was given, the files that its
  /// bodies are rendered from, and the rest (kernel_file/user_kernel.h).
  std::string file = {};
  const Files* files = nullptr;
  const UserKernel* user_kernel = nullptr;
};

/// The op's name on a command line: its own name, or the user's file.
const std::string& command_name(const Op& op);

/// Returns the problem with every parameter present, in the op's order. Throws UsageError that names the
/// parameter, the value and what is allowed.
Problem complete_problem(const Op& op, const Problem& given);

/// Returns the problem without the parameters that complete_problem() would restore.
Problem without_defaults(const Op& op, const Problem& problem);

/// True if the problems differ at most in at_launch parameters: dispatch chooses the same for both.
bool same_until_launch(const Op& op, const Problem& a, const Problem& b);

/// The bytes that must be moved: each input read once, each output written once.
double bytes_moved(const Op& op, const Problem& problem);

/// Throws UsageError that names the op's templates.
const Template& find_template(const Op& op, std::string_view name);

/// The part of `problem` that the template compiles in, in the op's order, and the template's constants.
Values compiled_in(const Op& op, const Template& tmpl, const Problem& problem);

/// The alignment in bytes that every pointer to an argument's elements has anyway.
std::int64_t element_alignment(const Op& op, const Problem& problem);

/// The square root of the sum of the squared differences of the log2 of each integer in Op::sizes (values
/// below 1 count as 1), plus 1 for each category that differs.
double distance(const Op& op, const Problem& a, const Problem& b);

/// True if both problems are of one computation (Parameter::is_computation), so that the winner for one may
/// be good for the other.
bool same_computation(const Op& op, const Problem& a, const Problem& b);

/// Returns the first legal config of the first template.
Config base_config(const Op& op, const Problem& problem, const DeviceFacts& device = {});

}  // namespace tunesmith
