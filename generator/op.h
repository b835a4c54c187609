// SPDX-License-Identifier: Apache-2.0
// What an op is: its parameters, arguments, reference and templates, as plain data and pure functions.
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

/// Reference in double precision of elements [begin, end) of the argument `output`, with the absolute error
/// that the contract permits for each, infinity where it says nothing of the element (so 0, not a bound
/// that grew to infinity, where the value is infinite): the op states its accuracy here. `arguments` holds
/// every argument's initial contents in the order of Op::arguments (outputs empty). Called from several
/// threads on different ranges.
using Reference = std::function<void(const Problem&, std::span<const std::vector<double>> arguments,
                                     int output, std::int64_t begin, std::int64_t end,
                                     std::span<double> value, std::span<double> permitted_error)>;

/// Small problems (odd sizes, sizes of 1, masks larger than the image) on which a variant rendered for a
/// problem must be right too: texts such as "height=1 width=67" over that problem, or a function of it where
/// they follow from it. They agree with the problem in everything that any template compiles in.
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

/// From the numbers that a launch is given, one for each of the op's parameters that is at_launch, in their
/// order: what its kernels take (Launch::numbers). Answers a sentence on why they are not allowed, or "";
/// then it has allocated nothing. Several threads may call it at the same time.
using MakeNumbers = std::function<std::string(std::span<const double> given, LaunchNumbers& made)>;

struct Op {
  std::string name;
  std::string what;  ///< a sentence with the mathematics
  std::vector<Parameter> parameters;
  /// A problem as a person may write it, perhaps with further names, in the op's parameters and in the one
  /// way in which it is stored; what is stored stays as it is. Throws UsageError. Null: it is as written.
  std::function<Problem(const Problem& given)> rewritten = nullptr;
  /// Why values that are allowed one by one are not allowed together, as a sentence; empty if they are.
  /// Null: all are.
  std::function<std::string(const Problem&)> check = nullptr;
  std::vector<Argument> arguments;
  /// The first is the base's: it serves every problem and compiles in dtype and other categories at most.
  std::vector<Template> templates;
  /// Text between the constants and the body, for code that is generated; a function of what every template
  /// compiles in. Null: none.
  std::function<std::string(const Problem&)> preamble = nullptr;
  Reference reference;
  /// Elements of an output, from a multiple of so many on, that a call of the reference computes together in
  /// less time than one by one, as those of a line along which sums are carried. Null: 1.
  std::function<std::int64_t(const Problem&)> reference_unit = nullptr;
  std::function<double(const Problem&)> flops;  ///< operations that must be done
  /// Null: each argument's bytes, those of an inout twice (bytes_moved()).
  std::function<double(const Problem&)> bytes_moved = nullptr;
  Companions companions = {};
  /// For a problem whose launches may be given numbers; null for one whose launches take none. Null: none do.
  std::function<MakeNumbers(const Problem&)> launch_numbers = nullptr;
  /// The integers by which two problems are near or far. Null: the integer parameters.
  std::function<Values(const Problem&)> sizes = nullptr;
  /// Problems as text that, between them, reach every template and every corner of the contract; tests run
  /// them beside random ones.
  std::vector<std::string> examples = {};
  /// Problems with an array of more than 2^31 elements; run on a GPU, compared in samples.
  std::vector<std::string> large_examples = {};
  /// Makes a problem whose parameters were drawn one by one more like those that users have, or sets what
  /// cannot be drawn so (sample.h). Null: it is as it was drawn. It need not be allowed.
  std::function<void(Random&, Problem&)> sample = nullptr;
  /// Of a user's kernel: the path of its .cu, as it was given, what its bodies are rendered from, and all
  /// else (kernel_file/user_kernel.h). Empty and null: the program was built with the op.
  std::string file = {};
  const Files* files = nullptr;
  const UserKernel* user_kernel = nullptr;
};

/// How a command names the op: by its name, or by the user's file.
const std::string& command_name(const Op& op);

/// The problem with every parameter present, in the op's order. Throws UsageError naming the parameter, the
/// value and what is allowed.
Problem complete_problem(const Op& op, const Problem& given);

/// The problem without the parameters that complete_problem() gives back.
Problem without_defaults(const Op& op, const Problem& problem);

/// Whether they are the same but for what is at_launch: no choice tells them apart.
bool same_until_launch(const Op& op, const Problem& a, const Problem& b);

/// What must be moved: each input read once, each output written once.
double bytes_moved(const Op& op, const Problem& problem);

/// Throws UsageError naming the op's templates.
const Template& find_template(const Op& op, std::string_view name);

/// The part of `problem` that the template compiles in, in the op's order, and the template's constants.
Values compiled_in(const Op& op, const Template& tmpl, const Problem& problem);

/// What every pointer to an argument's elements is a multiple of anyway.
std::int64_t element_alignment(const Op& op, const Problem& problem);

/// The root of the sum of the squared difference of the log2 of each integer parameter (values below 1 count
/// as 1), plus 1 for each category that differs.
double distance(const Op& op, const Problem& a, const Problem& b);

/// Whether both are of one computation (Parameter::is_computation), so that what won one may be good for the
/// other.
bool same_computation(const Op& op, const Problem& a, const Problem& b);

/// First legal config of the first template.
Config base_config(const Op& op, const Problem& problem, const DeviceFacts& device = {});

}  // namespace tunesmith
