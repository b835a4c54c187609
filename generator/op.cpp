// SPDX-License-Identifier: Apache-2.0
#include "generator/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/nearest_name.h"

namespace tunesmith {

Companions::Companions(std::initializer_list<const char*> texts)
    : Companions([texts = std::vector<std::string>(texts.begin(), texts.end())](const Problem& problem) {
        std::vector<Problem> companions;
        for (const std::string& text : texts) {
          Problem& companion = companions.emplace_back(problem);
          const Values given = Values::parse(text);
          for (const auto& [name, value] : given.entries()) companion.set(name, value);
        }
        return companions;
      }) {}

const std::string& command_name(const Op& op) { return op.file.empty() ? op.name : op.file; }

Problem complete_problem(const Op& op, const Problem& as_written) {
  const Problem given = op.rewritten ? op.rewritten(as_written) : as_written;
  for (const auto& [name, value] : given.entries()) {
    if (std::none_of(
            op.parameters.begin(), op.parameters.end(),
            [&, &given_name = name](const Parameter& parameter) { return parameter.name == given_name; })) {
      std::vector<std::string> names;
      for (const Parameter& parameter : op.parameters) names.push_back(parameter.name);
      throw UsageError(name + "=" + to_text(value) + " is not a parameter of " + op.name +
                       "; its parameters are " + listed(names) + "." + did_you_mean(name, names));
    }
  }
  Problem problem;
  for (const Parameter& parameter : op.parameters) {
    const Value* value = given.find(parameter.name);
    if (value == nullptr && parameter.initial) value = &*parameter.initial;
    if (value == nullptr) {
      throw UsageError("The " + op.name + " problem \"" + given.text() + "\" has no " + parameter.name +
                       " (" + parameter.what + "); add " + parameter.name + "=VALUE.");
    }
    problem.set(parameter.name, checked(parameter, *value, op.name));
  }
  if (op.check) {
    if (const std::string why = op.check(problem); !why.empty()) throw UsageError(why);
  }
  return problem;
}

Problem without_defaults(const Op& op, const Problem& problem) {
  Problem kept;
  for (const auto& [name, value] : problem.entries()) {
    const auto parameter = std::find_if(op.parameters.begin(), op.parameters.end(),
                                        [&, &its = name](const Parameter& one) { return one.name == its; });
    const bool is_known = parameter != op.parameters.end() && parameter->initial;
    if (!is_known || checked(*parameter, *parameter->initial, op.name) != value) kept.set(name, value);
  }
  return kept;
}

bool same_until_launch(const Op& op, const Problem& a, const Problem& b) {
  if (!op.launch_numbers) return a == b;
  return std::all_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
    if (parameter.at_launch) return true;
    const Value* left = a.find(parameter.name);
    const Value* right = b.find(parameter.name);
    return left == nullptr || right == nullptr ? left == right : *left == *right;
  });
}

double bytes_moved(const Op& op, const Problem& problem) {
  if (op.bytes_moved) return op.bytes_moved(problem);
  double bytes = 0;
  for (const Argument& argument : op.arguments)
    bytes += size_bytes(argument, problem) * (argument.role == Role::inout ? 2 : 1);
  return bytes;
}

const Template& find_template(const Op& op, std::string_view name) {
  for (const Template& candidate : op.templates)
    if (candidate.name == name) return candidate;
  std::vector<std::string> names;
  for (const Template& candidate : op.templates) names.push_back(candidate.name);
  throw UsageError(op.name + " has no template " + std::string(name) + "; it has " + listed(names) + "." +
                   did_you_mean(name, names));
}

Values compiled_in(const Op& op, const Template& tmpl, const Problem& problem) {
  Values values;
  for (const Parameter& parameter : op.parameters) {
    if (std::find(tmpl.compiled_in.begin(), tmpl.compiled_in.end(), parameter.name) !=
        tmpl.compiled_in.end()) {
      values.set(parameter.name, *problem.find(parameter.name));
    }
  }
  if (tmpl.constants) {
    const Values constants = tmpl.constants(problem);
    for (const auto& [name, value] : constants.entries()) values.set(name, value);
  }
  return values;
}

std::int64_t element_alignment(const Op& op, const Problem& problem) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const Argument& argument : op.arguments) smallest = std::min(smallest, bytes(argument.dtype(problem)));
  return smallest;
}

double distance(const Op& op, const Problem& a, const Problem& b) {
  double sum = 0;
  const auto add = [&](const Value& left, const Value& right) {
    const double octaves = log2_of(left) - log2_of(right);
    sum += octaves * octaves;
  };
  for (const Parameter& parameter : op.parameters) {
    const Value* left = a.find(parameter.name);
    const Value* right = b.find(parameter.name);
    if (left == nullptr || right == nullptr || *left == *right) continue;
    if (!parameter.is_integer()) {
      sum += 1;
    } else if (!op.sizes) {
      add(*left, *right);
    }
  }
  if (op.sizes) {
    const Values left = op.sizes(a);
    const Values right = op.sizes(b);
    for (const auto& [name, value] : left.entries()) add(value, *right.find(name));
  }
  return std::sqrt(sum);
}

bool same_computation(const Op& op, const Problem& a, const Problem& b) {
  return std::all_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
    if (!parameter.is_computation) return true;
    const Value* left = a.find(parameter.name);
    const Value* right = b.find(parameter.name);
    return left != nullptr && right != nullptr && *left == *right;
  });
}

Config base_config(const Op& op, const Problem& problem, const DeviceFacts& device) {
  return op.templates.front().space(problem, device).complete({});
}

}  // namespace tunesmith
