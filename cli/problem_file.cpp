// SPDX-License-Identifier: Apache-2.0
#include "cli/problem_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "generator/error.h"
#include "generator/problem_list.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

constexpr double most_weight = 1e15;

// The index of a problem among its op's problems, by op and text.
using Places = std::map<std::pair<const Op*, std::string>, std::size_t>;

void add(std::vector<ProblemsOfOp>& ops, Places& places, const Op& op, Problem problem, double weight) {
  auto found = std::find_if(ops.begin(), ops.end(), [&](const ProblemsOfOp& one) { return one.op == &op; });
  if (found == ops.end()) found = ops.insert(found, {.op = &op, .problems = {}, .weights = {}});
  found->weight += weight;
  const auto [place, is_new] = places.try_emplace({&op, problem.text()}, found->problems.size());
  if (!is_new) {
    found->weights[place->second] += weight;
    return;
  }
  found->problems.push_back(std::move(problem));
  found->weights.push_back(weight);
}

void sort_by_weight(ProblemsOfOp& of_op) {
  std::vector<std::pair<double, Problem>> order;
  for (std::size_t i = 0; i < of_op.problems.size(); ++i)
    order.emplace_back(of_op.weights[i], std::move(of_op.problems[i]));
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    of_op.weights[i] = order[i].first;
    of_op.problems[i] = std::move(order[i].second);
  }
}

const Op& op_of(const ListedProblem& listed, const Op* only) {
  if (!listed.op.empty()) return find_op(listed.op);
  if (only != nullptr) return *only;
  throw UsageError(
      "It names no op; write one before the problem, such as \"conv2d height=1000 …\". Only tune OP "
      "takes problems without.");
}

}  // namespace

std::vector<ProblemsOfOp> read_problem_file(const std::filesystem::path& path, const Op* only) {
  std::ifstream file(path);
  std::vector<ProblemsOfOp> ops;
  Places places;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    if (++number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
    try {
      const auto listed = parse_problem_line(line);
      if (!listed) continue;
      // The sum of larger weights could overflow.
      if (listed->weight > most_weight)
        throw UsageError("The weight is too large; give at most 1e15, as only the weights' ratios count.");
      const Op& op = op_of(*listed, only);
      if (only == nullptr || &op == only)
        add(ops, places, op, complete_problem(op, listed->problem), listed->weight);
    } catch (const UsageError& error) {
      throw UsageError(path.string() + ", line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (!file.eof()) throw UsageError("The problem file " + path.string() + " cannot be read.");
  if (ops.empty()) {
    throw UsageError("The file " + path.string() + " has no problem" +
                     (only == nullptr ? "" : " of " + only->name) + "; write one per line.");
  }
  for (ProblemsOfOp& of_op : ops) sort_by_weight(of_op);
  std::stable_sort(ops.begin(), ops.end(),
                   [](const ProblemsOfOp& a, const ProblemsOfOp& b) { return a.weight > b.weight; });
  return ops;
}

}  // namespace tunesmith
