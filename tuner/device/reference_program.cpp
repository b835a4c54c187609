// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/reference_program.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "generator/error.h"
#include "tuner/device/check_data.h"

namespace tunesmith {
namespace {

// The line that asks the program; `asked` is its last pair.
std::string question(const Op& op, const Problem& problem, const std::string& asked) {
  std::string text = "{\"op\": " + json_text(op.name) + ", \"problem\": {";
  for (const auto& [name, value] : problem.entries())
    text += (text.back() == '{' ? "" : ", ") + json_text(name) + ": " + json_of(value);
  text += "}, \"arrays\": [";
  for (const Argument& argument : op.arguments) {
    text += (text.back() == '[' ? "" : ", ") + std::string("{\"name\": ") + json_text(argument.name) +
            ", \"role\": " + json_text(name(argument.role)) +
            ", \"dtype\": " + json_text(name(argument.dtype(problem))) + ", \"extents\": [";
    for (const std::int64_t extent : argument.extents(problem))
      text += (text.back() == '[' ? "" : ", ") + std::to_string(extent);
    text += "]}";
  }
  return text + "], " + asked + "}\n";
}

}  // namespace

ReferenceProgram::ReferenceProgram(const std::string& words) : program_(words, "reference") {}

// An array's elements as a device holds them. They come as doubles; with `integers_as_such` 64-bit integers
// come as integers, because a double does not have all their digits.
std::string ReferenceProgram::read_array(const Argument& argument, const Problem& problem,
                                         bool integers_as_such) {
  const DType dtype = argument.dtype(problem);
  std::string words(static_cast<std::size_t>(elements(argument, problem)) * sizeof(double), '\0');
  program_.read(words.data(), words.size());
  if (integers_as_such && (dtype == DType::i64 || dtype == DType::u64)) return words;
  const std::vector<double> values = unpack(DType::f64, words);
  for (std::size_t i = 0; is_whole(dtype) && i < values.size(); ++i) {
    if (round_to(dtype, values[i]) == values[i]) continue;
    program_.fail("gave " + number_text(values[i]) + " as element " + std::to_string(i) + " of " +
                  argument.name + " on " + problem.text() + ", which " + std::string(name(dtype)) +
                  " cannot hold");
  }
  return pack(dtype, values);
}

std::string ReferenceProgram::ask(const Op& op, const Problem& problem,
                                  std::span<const std::vector<double>> inputs, int output) {
  const Argument& argument = op.arguments[static_cast<std::size_t>(output)];
  const std::string line = question(op, problem, "\"output\": " + json_text(argument.name));
  program_.write(line);
  for (const std::vector<double>& values : inputs)
    program_.write(values.data(), values.size() * sizeof(double));
  if (const std::string answer = program_.read_line(); answer != "ok")
    program_.fail("failed on " + problem.text() + ": " + answer);
  return read_array(argument, problem, true);
}

void ReferenceProgram::take_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                                   std::vector<std::vector<double>>& inputs) {
  const std::string line = question(op, problem, "\"inputs\": true, \"seed\": " + std::to_string(seed));
  program_.write(line);
  std::istringstream answer(program_.read_line());
  std::string word;
  if (!(answer >> word) || word != "ok") program_.fail("failed on " + problem.text() + ": " + answer.str());
  while (answer >> word) {
    const auto found = std::find_if(op.arguments.begin(), op.arguments.end(), [&](const Argument& one) {
      return one.name == word && one.role != Role::output;
    });
    if (found == op.arguments.end()) program_.fail("gave " + word + ", which is not an input of " + op.name);
    inputs[static_cast<std::size_t>(found - op.arguments.begin())] =
        unpack(found->dtype(problem), read_array(*found, problem, false));
  }
}

}  // namespace tunesmith
