// SPDX-License-Identifier: Apache-2.0
#include "generator/problem_list.h"

#include <algorithm>
#include <cmath>

#include "generator/error.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '#' && !quoted) return line.substr(0, at);
    if (line[at] == '\\' && quoted)
      ++at;
    else if (line[at] == '"')
      quoted = !quoted;
  }
  return line;
}

double weight_of(const Value& value) {
  const std::string text = to_text(value);
  const auto weight = parsed_number<double>(text);
  if (!weight || !std::isfinite(*weight) || *weight < 0) {
    throw UsageError(
        "The weight is " + text +
        "; give 0 for a problem that is tuned already, a number above 0, or leave it out where all problems "
        "are worth the same.");
  }
  return *weight;
}

}  // namespace

std::optional<ListedProblem> parse_problem_line(std::string_view line) {
  line = without_comment(line);
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin);
  ListedProblem listed;
  const std::string_view first = line.substr(0, line.find_first_of(blanks));
  if (first.find('=') == std::string_view::npos) {
    listed.op = first;
    line.remove_prefix(first.size());
  }
  const Values values = Values::parse(line);
  for (const auto& [name, value] : values.entries()) {
    if (name == "weight") {
      listed.weight = weight_of(value);
    } else {
      listed.problem.set(name, value);
    }
  }
  return listed;
}

std::string problem_line(const ListedProblem& problem) {
  const bool is_whole = problem.weight <= 0 || problem.weight >= 10;
  const double weight = is_whole ? problem.weight : std::max(problem.weight, 1e-3);
  return problem.op + printed(is_whole ? " weight=%.0f " : " weight=%.3f ", weight) + problem.problem.text();
}

}  // namespace tunesmith
