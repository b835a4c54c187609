// SPDX-License-Identifier: Apache-2.0
// Checks whether a problem that a caller wrote is allowed.

#include <algorithm>
#include <cmath>

#include "generator/listed.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

std::string name_of(const Expression& e, int array) {
  return std::string(argument_name(array)) +
         (array < 0 ? "" : " (" + e.arrays[static_cast<std::size_t>(array)] + ")");
}

// True if no two iterations write one element: each stride is beyond what the smaller ones reach.
bool writes_once(const View& output, const Nest& nest) {
  std::int64_t reach = 0;
  for (const std::size_t i : sorted_by(nest.free, [&](std::size_t index) { return output.strides[index]; })) {
    if (output.strides[i] <= reach) return false;
    reach += output.strides[i] * (nest.extents[i] - 1);
  }
  return true;
}

double product(const std::vector<std::int64_t>& extents, std::size_t from, std::size_t to) {
  double all = 1;
  for (std::size_t i = from; i < to; ++i) all *= static_cast<double>(extents[i]);
  return all;
}

std::string refuses_array(const Problem& problem, const Expression& e, int array,
                          const std::vector<std::int64_t>& extents) {
  const std::string& text = problem.string(argument_name(array));
  const std::string subject = "The tensor problem's " + name_of(e, array) + " is " + text;
  const std::size_t rank = e.rank_of(array);
  if (text != "dense" && shape_of(text)->size() != rank) {
    return subject + ", but the expression has " + std::to_string(rank) +
           " indices there; give as many extents.";
  }
  const ArrayLayout layout = array_layout(problem, array);
  const auto refuses = [&](const Access& access) -> std::string {
    if (access.array != array) return "";
    double farthest = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const Reach reach = reach_of(access.dimensions[d], extents);
      if (reach.least > reach.most) continue;
      if (e.is_zero_outside(array)) {
        farthest += static_cast<double>(std::max(-reach.least, reach.most)) *
                    static_cast<double>(std::max<std::int64_t>(1, layout.strides[d]));
        continue;
      }
      if (reach.least < 0 || reach.most >= layout.extents[d]) {
        return "The expression " + problem.string("expression") + " reads or writes " + name_of(e, array) +
               " from " + std::to_string(reach.least) + " to " + std::to_string(reach.most) +
               " along dimension " + std::to_string(d) + ", whose extent is " +
               std::to_string(layout.extents[d]) + ", " + place_of(e, access) +
               "; no access may be out of bounds but those of arrays that zero_outside names.";
      }
    }
    if (farthest < 0x1p60) return "";
    return subject + ", and the expression reaches farther out of it, " + place_of(e, access) +
           ", than the 2^60 elements that can be counted.";
  };
  for (const Access& access : e.accesses)
    if (std::string why = refuses(access); !why.empty()) return why;
  if (std::string why = refuses(e.output); !why.empty()) return why;
  return memory(layout) ? "" : subject + ". " + too_many_elements("It");
}

}  // namespace

std::string check(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const std::string expression =
      "The tensor problem's expression is \"" + problem.string("expression") + "\"";
  const DType dtype = dtype_of(problem), compute = compute_dtype(problem), out = out_dtype(problem);
  for (const elementwise_op::Expression* const function : {&e.function, &e.finish.function})
    if (const std::string why = elementwise_op::refuses(*function, is_whole(dtype) ? compute : dtype);
        !why.empty())
      return expression +
             (function == &e.function ? ". " : ", its finish \"" + problem.string("finish") + "\". ") + why;
  if (!is_whole(dtype) && is_whole(out))
    return "The tensor problem's out_dtype is " + std::string(name(out)) +
           ", of whole numbers, and its dtype " + std::string(name(dtype)) +
           " of real ones; allowed then are out_dtype=f32, f64, f16 and bf16.";
  if (program_words(e) > most_program_words) {
    return expression + ", whose function" + (e.finish.is_there() ? " has with its finish " : " has ") +
           std::to_string(program_words(e)) +
           " accesses, numbers (which count twice) and operations; at most " +
           std::to_string(most_program_words) + " are allowed, so split it up.";
  }
  const std::vector<std::int64_t> extents = extents_of(problem.string("extents")).value();
  if (extents.size() != e.indices.size()) {
    return expression + ", which has " + std::to_string(e.indices.size()) +
           " indices, but extents=" + problem.string("extents") + " are " + std::to_string(extents.size()) +
           "; give one for each, in the order a, b, c, …";
  }
  for (std::size_t k = 0; k < most_arrays; ++k) {
    if (k >= e.arrays.size() && problem.string(array_names[k]) != "dense") {
      return expression + ", which has no array " + std::string(array_names[k]) + ", but " +
             std::string(array_names[k]) + "=" + problem.string(array_names[k]) + "; leave it out.";
    }
  }
  if (are_too_many(product(extents, 0, e.free)) || are_too_many(product(extents, e.free, extents.size())))
    return expression + " with extents=" + problem.string("extents") + ": more than " + most_elements_text +
           " elements or terms of each; ask for smaller sizes.";
  for (int array = -1; array < static_cast<int>(e.arrays.size()); ++array)
    if (std::string why = refuses_array(problem, e, array, extents); !why.empty()) return why;
  const Nest& nest = nest_of(problem);
  if (nest.bounds() > most_bounds)
    return expression + ", whose accesses are out of bounds along " + std::to_string(nest.bounds()) +
           " dimensions; at most " + std::to_string(most_bounds) + " are allowed.";
  if (nest.outputs() > 0 && !writes_once(nest.output, nest))
    return "The tensor problem's out is " + problem.string("out") +
           ", in which two elements have one address; give larger strides.";
  if (nest.outputs() > 0 && nest.terms() == 0 && e.reduction != Reduction::sum)
    return expression + " with extents=" + problem.string("extents") +
           ": nothing has no largest and no smallest element; no reduced extent may be 0.";
  return "";
}

}  // namespace tunesmith::tensor_op
