// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "generator/error.h"
#include "kernel_file/described_parts.h"

namespace tunesmith {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 50;

}  // namespace

std::vector<std::int64_t> values_of(const DescriptionFacts& facts, const Problem& problem) {
  std::vector<std::int64_t> values;
  values.reserve(facts.of_problem);
  for (const Parameter& parameter : facts.description.parameters) {
    const Value* value = problem.find(parameter.name);
    if (value == nullptr) throw Error("\"" + problem.text() + "\" has no " + parameter.name + ".");
    if (const auto* word = std::get_if<std::string>(value)) {
      const auto found = std::find(parameter.categories.begin(), parameter.categories.end(), *word);
      values.push_back(found - parameter.categories.begin());
    } else {
      values.push_back(std::get<std::int64_t>(*value));
    }
  }
  values.push_back(bytes(dtype_of(problem)));
  return values;
}

namespace {

IntegerExpression::Lookup lookup(const DescriptionFacts& facts, const std::vector<std::int64_t>& values,
                                 const Config* config, std::int64_t step) {
  return [&facts, &values, config, step](std::size_t name) {
    if (name < values.size()) return values[name];
    const std::size_t axis = name - values.size();
    if (axis >= facts.axes.size()) return step;
    const std::vector<std::string>& types = facts.description.axes[axis].types;
    if (types.empty()) return (*config)[facts.axes[axis]];
    const std::string& word = (*config)[CategoricalAxis(facts.axes[axis].name)];
    return std::int64_t{std::find(types.begin(), types.end(), word) - types.begin()};
  };
}

}  // namespace

IntegerExpression::Result value_of(const IntegerExpression& expression, const DescriptionFacts& facts,
                                   const std::vector<std::int64_t>& values, const Config* config,
                                   std::int64_t step) {
  return expression.evaluate(lookup(facts, values, config, step));
}

DType dtype_of_array(const DescribedArray& array, const Problem& problem) {
  return array.dtype.empty() ? dtype_of(problem) : dtype_of({{"dtype", array.dtype}});
}

DType type_of(const std::string& axis, const Config& config) {
  return dtype_of({{"dtype", std::string(config[CategoricalAxis(axis)])}});
}

// Distant numbers below zero show where a maximum begins at 0, those of `wide` where sums that are meant
// to have 64 bits have 32, and those about the sign bit where unsigned integers are compared as signed ones.
std::vector<Contents> usual_sets(const Description& description) {
  static const std::vector<Contents> sets = {{Contents::uniform, -100, 100}, {Contents::distant},
                                             {Contents::few, -1, 1},         {Contents::uniform, 0, 0},
                                             {Contents::uniform, -100, -1},  {Contents::ascending, -100, 100},
                                             {Contents::distant, -1, -1}};
  const auto any = [&](const std::set<std::string>& dtypes, const auto& counts) {
    return std::any_of(
        description.arrays.begin(), description.arrays.end(), [&](const DescribedArray& array) {
          std::vector<std::string> all =
              array.dtype.empty() ? description.parameters.back().categories : std::vector{array.dtype};
          if (array.is_of_structs()) all.clear();
          for (const StructMember& one : array.record.members) all.emplace_back(name(one.dtype));
          return counts(array) &&
                 std::any_of(all.begin(), all.end(), [&](const auto& one) { return dtypes.contains(one); });
        });
  };
  const bool is_wide =
      any({"i64", "u64"}, [](const DescribedArray& array) { return array.role != Role::input; });
  const bool has_unsigned = any({"u16", "u32", "u64"}, [](const DescribedArray& array) {
    return array.role != Role::output && array.values.empty();
  });
  std::vector<Contents> made = sets;
  if (is_wide) made.push_back({Contents::distant, 1, 1});
  if (has_unsigned) made.push_back({Contents::distant, 2, 2});
  return made;
}

Contents contents_of(const Facts& facts, const DescribedValues& values) {
  Contents made = values.contents;
  if (!values.least && !values.most) return made;
  made.bounds = [facts, &values](const Problem& problem) {
    const std::vector<std::int64_t> of_problem = values_of(*facts, problem);
    const auto bound = [&](const std::optional<IntegerExpression>& expression, double number) {
      if (!expression) return number;
      const IntegerExpression::Result result = value_of(*expression, *facts, of_problem);
      if (!result.error.empty()) throw UsageError(result.error);
      if (result.value < -most_exact_value || result.value > most_exact_value)
        throw UsageError("The bound \"" + expression->text() + "\" of values is " +
                         std::to_string(result.value) + "; it must be within 2^53.");
      return static_cast<double>(result.value);
    };
    const double least = bound(values.least, values.contents.least);
    return std::pair(least, std::max(least, bound(values.most, values.contents.most)));
  };
  return made;
}

std::string extents_of(const DescriptionFacts& facts, const DescribedArray& array,
                       const std::vector<std::int64_t>& values, std::vector<std::int64_t>& extents,
                       const Config* config) {
  std::int64_t elements = 1;
  for (const IntegerExpression& expression : array.extents) {
    const IntegerExpression::Result extent = value_of(expression, facts, values, config);
    if (!extent.error.empty()) return extent.error;
    if (extent.value < 0 || __builtin_mul_overflow(elements, extent.value, &elements) ||
        elements > most_elements) {
      return "The extent \"" + expression.text() + "\" of " + array.name + " is " +
             std::to_string(extent.value) + "; an array has 0 to 2^50 elements.";
    }
    extents.push_back(extent.value);
  }
  if (array.is_of_structs() && elements % array.record.bytes != 0)
    return "The array " + array.name + " has " + std::to_string(elements) +
           " bytes, which is no multiple of the " + std::to_string(array.record.bytes) + " bytes of " +
           array.record_type + ".";
  return "";
}

}  // namespace tunesmith
