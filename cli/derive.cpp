// SPDX-License-Identifier: Apache-2.0
// derive: explains an index expression, and lists the forms of it that save operations. It uses no device and
// no database.
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/text_table.h"
#include "generator/dtype.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/problem.h"
#include "templates/choice.h"
#include "templates/tensor/derive/forms.h"
#include "templates/tensor/notation/layout.h"
#include "templates/tensor/op.h"

namespace tunesmith {
namespace {

using namespace tensor_op;

struct DeriveRequest {
  std::string expression, extents, may = "distribute", dtype = "f32", finish = std::string(no_finish),
                                   zero_outside = no_arrays;
  std::int64_t form = -1;
  double balance = usual_operations_per_byte;
};

// Reads extents from "b=8 image=100x100"; an index without one gets a usual size.
std::vector<std::int64_t> extents_of(const Expression& e, const std::string& words) {
  constexpr std::int64_t usual_extent = 32;
  if (words.empty()) return std::vector<std::int64_t>(e.indices.size(), usual_extent);
  std::vector<std::int64_t> given(e.indices.size(), -1);
  std::vector<std::vector<std::int64_t>> shapes(e.arrays.size());
  std::vector<const std::vector<std::int64_t>*> known(e.arrays.size(), nullptr);
  const Problem named = Problem::parse(words);
  for (const auto& [key, value] : named.entries()) {
    const std::string& name = key;
    const std::string text = to_text(value);
    const auto extents = refuses_extents(text).empty() ? tunesmith::extents_of(text) : std::nullopt;
    const auto index = std::find_if(e.indices.begin(), e.indices.end(),
                                    [&](const Index& each) { return each.name == name; });
    const auto array = std::find(e.arrays.begin(), e.arrays.end(), name);
    if (index == e.indices.end() && array == e.arrays.end()) {
      std::vector<std::string> names;
      for (const Index& each : e.indices) names.push_back(each.name);
      names.insert(names.end(), e.arrays.begin(), e.arrays.end());
      throw UsageError(name + "=" + text + " is of no index and no array; there are " + listed(names) + ".");
    }
    if (!extents || extents->empty() || (index != e.indices.end() && extents->size() != 1)) {
      throw UsageError(name + "=" + text + " is no extent; an index has a whole number from 0 to " +
                       most_elements_text +
                       ", such as y=100, an array one for each dimension, such as image=100x80.");
    }
    if (index != e.indices.end()) {
      given[static_cast<std::size_t>(index - e.indices.begin())] = extents->front();
    } else {
      const auto place = static_cast<std::size_t>(array - e.arrays.begin());
      shapes[place] = *extents;
      known[place] = &shapes[place];
    }
  }
  tensor_op::Extents found = infer_extents(e, std::move(given), known);
  if (!found.error.empty()) throw UsageError(found.error);
  return std::move(found.values);
}

void check_bounds(const Expression& e, const std::vector<std::int64_t>& extents) {
  for (const Access& access : e.accesses) {
    for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
      const std::int64_t least = reach_of(access.dimensions[d], extents).least;
      if (least < 0 && !e.is_zero_outside(access.array)) {
        throw UsageError("The access " + text(e, access) + " begins at " + std::to_string(least) +
                         " along dimension " + std::to_string(d) +
                         "; it has to begin at 0 or above, so add " + std::to_string(-least) +
                         " there, or name the array in --zero-outside.");
      }
    }
  }
}

std::size_t count_of(const Access& access, std::size_t index) {
  return static_cast<std::size_t>(
      std::count_if(access.dimensions.begin(), access.dimensions.end(),
                    [&](const Affine& dimension) { return dimension.factors[index] != 0; }));
}

// Returns the role of an index in an operand; empty if the operand does not use it.
std::string class_of(const Expression& e, const Access& access, std::size_t index) {
  const std::size_t count = count_of(access, index);
  if (count == 0) return "";
  const bool is_window =
      std::any_of(access.dimensions.begin(), access.dimensions.end(), [&](const Affine& dimension) {
        const auto zeros = std::count(dimension.factors.begin(), dimension.factors.end(), 0);
        return dimension.factors[index] != 0 && zeros + 1 < std::ssize(dimension.factors);
      });
  const bool everywhere = std::all_of(e.accesses.begin(), e.accesses.end(),
                                      [&](const Access& other) { return count_of(other, index) > 0; });
  return std::string(is_window             ? "window"
                     : e.is_reduced(index) ? "contracted"
                     : everywhere          ? "batch"
                                           : "free") +
         (count > 1 ? ", diagonal" : "");
}

void print_indices(const Expression& e, const std::vector<std::int64_t>& extents) {
  std::vector<std::string> columns = {"index", "extent", e.output_name};
  for (const Access& access : e.accesses) columns.push_back(text(e, access));
  TextTable table(columns);
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    const bool unread = std::all_of(e.accesses.begin(), e.accesses.end(),
                                    [&](const Access& access) { return count_of(access, i) == 0; });
    std::string output = e.is_reduced(i) ? "reduced" : unread ? "broadcast" : "free";
    if (count_of(e.output, i) > 1) output += ", diagonal";
    std::vector<Cell> row = {e.indices[i].name, extents[i], output};
    for (const Access& access : e.accesses) row.emplace_back(class_of(e, access, i));
    table.add(std::move(row));
  }
  std::cout << table.text();
}

std::string amount(double count) {
  static constexpr std::array<std::pair<double, char>, 4> letters = {
      {{1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}}};
  for (const auto& [size, letter] : letters)
    if (count >= size) return printed("%.3g %c", count / size, letter);
  return printed("%.3g ", count);
}

void print_forms(const std::vector<Form>& all, std::size_t cheapest) {
  TextTable table({"form", "operations", "bytes", "times fewer operations", "launches", "allowed by", ""});
  for (std::size_t n = 0; n < all.size(); ++n) {
    const Form& form = all[n];
    const double saved = form.operations > 0 ? all[0].operations / form.operations : 1;
    table.add({static_cast<std::int64_t>(n), amount(form.operations), amount(form.bytes) + "B", saved,
               static_cast<std::int64_t>(form.launches()),
               n == 0             ? ""
               : form.distributes ? "distribute"
                                  : "reorder",
               n == cheapest ? Cell("cheapest") : Cell()});
  }
  std::cout << table.text();
}

void print_steps(const Form& form) {
  TextTable table({"step", "operations", "bytes", ""});
  for (const FormStep& step : form.steps)
    table.add({text(step.expression), amount(step.operations), amount(step.bytes) + "B",
               step.joined ? Cell("in the same launch") : Cell()});
  std::cout << table.text() << '\n' << loops_text(form);
}

void derive(const DeriveRequest& request) {
  const ParseResult parsed = parse(request.expression, request.finish);
  if (!parsed.error.empty()) throw UsageError("The expression cannot be read. " + parsed.error);
  Expression e = parsed.expression;
  set_zero_outside(e, request.zero_outside);
  const std::vector<std::int64_t> extents = extents_of(e, request.extents);
  check_bounds(e, extents);
  const std::int64_t element_bytes = bytes(dtype_of(Problem({{"dtype", request.dtype}})));
  const std::vector<Form> all = forms(e, extents, choice<May>("--may", request.may), element_bytes);
  const std::size_t best = cheapest(all, request.balance);
  const std::size_t shown = request.form < 0 ? best : static_cast<std::size_t>(request.form);
  if (shown >= all.size()) {
    throw UsageError("There is no form " + std::to_string(shown) + "; the forms are 0 to " +
                     std::to_string(all.size() - 1) + ".");
  }
  std::cout << "Canonical: " << canonical_text(e) << "\n\n";
  print_indices(e, extents);
  if (request.extents.empty()) std::cout << "Each index has the extent 32 here; --extents gives others.\n";
  std::cout << '\n';
  print_forms(all, best);
  std::cout << "\nForm " << shown << (shown == 0 ? ", as it is written:\n" : ":\n");
  print_steps(all[shown]);
}

}  // namespace

void add_derive_command(CLI::App& app) {
  auto request = std::make_shared<DeriveRequest>();
  CLI::App* command =
      app.add_subcommand("derive", "Show forms of an index expression that need fewer operations");
  command
      ->add_option("EXPRESSION", request->expression,
                   "An index expression, such as \"out[y,x] += g[i] * h[j] * image[y+i,x+j]\"")
      ->required();
  command->add_option("--extents,--problem", request->extents,
                      "Extents of indices or arrays: \"y=1080 x=1920 g=13 h=13\" (default: 32 each)");
  command
      ->add_option("--may", request->may,
                   "What rounding may change: reorder (the order of sums) or distribute (products too)")
      ->capture_default_str()
      ->check(CLI::IsMember(choices<May>()));
  command->add_option("--dtype", request->dtype, "Type of the elements, for their bytes")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "f64", "f16", "bf16", "i32", "i64"}));
  command
      ->add_option("--finish", request->finish,
                   "What is written instead of the sum: a function of it, as in \"max(out + bias[x], 0)\"")
      ->capture_default_str();
  command
      ->add_option("--zero-outside", request->zero_outside,
                   "Arrays of which an element out of bounds is 0, joined by commas")
      ->capture_default_str();
  command->add_option("--form", request->form, "Show the loops of this form instead of the cheapest one's")
      ->check(whole_number(0));
  command
      ->add_option("--operations-per-byte", request->balance,
                   "What the device computes while it moves a byte: makes a form the cheapest")
      ->capture_default_str()
      ->check({[](const std::string& text) -> std::string {
                 const double balance = parsed_number<double>(text).value_or(0);
                 return balance >= 0.001 && balance <= 1e6
                            ? ""
                            : "\"" + text + "\" is not a number from 0.001 to 1000000";
               },
               "from 0.001 to 1000000"});
  command->callback([request] { derive(*request); });
}

}  // namespace tunesmith
