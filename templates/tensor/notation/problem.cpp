// SPDX-License-Identifier: Apache-2.0
// Turns what a caller wrote into a problem of the op.

#include "templates/tensor/notation/problem.h"

#include <algorithm>
#include <cmath>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/word.h"
#include "templates/tensor/notation/nest.h"

namespace tunesmith::tensor_op {

std::string zero_outside_text(const Expression& e) {
  std::string names;
  for (std::size_t k = 0; k < e.arrays.size(); ++k)
    if (e.is_zero_outside(static_cast<int>(k)))
      names += (names.empty() ? "" : ",") + std::string(array_names[k]);
  return names.empty() ? no_arrays : names;
}

ArrayLayout array_layout(const Problem& problem, int array) {
  const std::string& text = problem.string(argument_name(array));
  if (text != "dense") return layout_of(text, {});
  return layout_of(
      text, least_extents(expression_of(problem), array, extents_of(problem.string("extents")).value()));
}

void set_zero_outside(Expression& e, std::string_view names) {
  e.zero_outside = 0;
  while (!names.empty() && names != no_arrays) {
    const std::size_t comma = std::min(names.find(','), names.size());
    std::string_view name = names.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const auto found = std::find(e.arrays.begin(), e.arrays.end(), name);
    if (found == e.arrays.end())
      throw UsageError("The expression reads no array \"" + std::string(name) +
                       "\", which zero_outside names; it reads " + listed(e.arrays) + ".");
    e.zero_outside |= 1U << (found - e.arrays.begin());
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
}

namespace {

// A parameter as a text, even if it is given as a number, such as a single extent.
std::string words_of(const Problem& problem, std::string_view parameter) {
  return word_of(*problem.find(parameter));
}

}  // namespace

Problem rewritten(const Problem& given) {
  const Value* const written = given.find("expression");
  if (written == nullptr) return given;
  const std::string expression = words_of(given, "expression");
  const auto words = [&](const char* parameter, std::string_view initial) {
    return given.has(parameter) ? words_of(given, parameter) : std::string(initial);
  };
  const std::string finish = words("finish", no_finish);
  const ParseResult parsed = parse(expression, finish);
  if (!parsed.error.empty()) {
    Parameter parameter{.name = "expression", .what = "what is computed"};
    parameter.refuses_text = [](const std::string& text) { return parse(text).error; };
    static_cast<void>(checked(parameter, *written, "tensor"));
    throw UsageError("The expression is \"" + expression + "\". " + parsed.error);  // the finish is wrong
  }
  Expression e = parsed.expression;
  set_zero_outside(e, words("zero_outside", no_arrays));
  Problem result;
  std::vector<std::int64_t> extents(e.indices.size(), -1);
  std::vector<std::string> layouts(e.arrays.size());
  bool has_extents = false;
  for (const auto& [key, value] : given.entries()) {
    const std::string& name = key;
    if (name == "finish" || name == "zero_outside") continue;
    const std::size_t index = e.place_of(name);
    const auto array = std::find(e.arrays.begin(), e.arrays.end(), name);
    if (index < e.indices.size() && std::holds_alternative<std::int64_t>(value)) {
      const std::int64_t extent = std::get<std::int64_t>(value);
      if (extent < 0 || extent > most_elements)
        throw UsageError("The extent " + name + "=" + std::to_string(extent) + " is not from 0 to " +
                         most_elements_text + ".");
      extents[index] = extent;
    } else if (array != e.arrays.end()) {
      const auto place = static_cast<std::size_t>(array - e.arrays.begin());
      layouts[place] = words_of(given, name);
      result.set(array_names[place], layouts[place]);
    } else {
      has_extents = has_extents || name == "extents";
      result.set(name == e.output_name ? "out" : name, value);
    }
  }
  result.set("expression", canonical_text(e));
  if (e.finish.is_there()) result.set("finish", canonical_finish(e));
  if (e.zero_outside != 0) result.set("zero_outside", zero_outside_text(e));
  const Value* const dtype = result.find("dtype");
  const Value* const out = result.find("out_dtype");
  if (out != nullptr && *out == (dtype != nullptr ? *dtype : Value("f32")))
    result.set("out_dtype", same_dtype);
  if (!has_extents) {
    std::vector<std::vector<std::int64_t>> shapes(layouts.size());
    std::vector<const std::vector<std::int64_t>*> known(layouts.size(), nullptr);
    for (std::size_t k = 0; k < layouts.size(); ++k) {
      if (layouts[k].empty() || layouts[k] == "dense" || !refuses_layout(layouts[k]).empty()) continue;
      shapes[k] = *shape_of(layouts[k]);
      known[k] = &shapes[k];
    }
    const Extents found = infer_extents(e, extents, known);
    if (!found.error.empty()) throw UsageError("The expression is \"" + expression + "\". " + found.error);
    result.set("extents", joined(found.values));
  }
  const std::string extents_text = words_of(result, "extents");
  if (!refuses_extents(extents_text).empty()) return result;
  const std::vector<std::int64_t> all = extents_of(extents_text).value();
  if (all.size() != e.indices.size()) return result;  // check() refuses this too
  for (int array = -1; array < static_cast<int>(e.arrays.size()); ++array) {
    const std::string name(argument_name(array));
    if (result.has(name))
      result.set(name, stored_layout(words_of(result, name), least_extents(e, array, all)));
  }
  return result;
}

}  // namespace tunesmith::tensor_op
