// SPDX-License-Identifier: Apache-2.0
#include "generator/compiler_flags.h"

#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr std::string_view fast_math = "#define TUNESMITH_FAST_MATH ",
                           registers = "#define TUNESMITH_REGISTERS ",
                           standard = "#define TUNESMITH_STANDARD ";

// Returns the number in the text's first line that begins so; `otherwise` if there is none in the range.
std::int64_t number_in(std::string_view text, std::string_view opening, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise) {
  for (std::size_t at = 0; (at = text.find(opening, at)) != std::string_view::npos; ++at) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const std::string_view rest = text.substr(at + opening.size());
    const auto number = parsed_number<std::int64_t>(rest.substr(0, rest.find('\n')));
    return number && *number >= least && *number <= most ? *number : otherwise;
  }
  return otherwise;
}

}  // namespace

std::string compiler_flag_lines(const CompilerFlags& options) {
  std::string lines, words;
  const auto add = [&](std::string_view opening, std::int64_t number, const std::string& word) {
    lines += std::string(opening) + std::to_string(number) + "\n";
    words += " " + word;
  };
  if (options.fast_math) add(fast_math, 1, "--use_fast_math");
  if (options.registers > 0)
    add(registers, options.registers, "--maxrregcount=" + std::to_string(options.registers));
  if (options.standard != CompilerFlags().standard)
    add(standard, options.standard, "--std=c++" + std::to_string(options.standard));
  return lines.empty() ? "" : "// On a GPU it is compiled with" + words + ".\n" + lines;
}

CompilerFlags compiler_flags_of(std::string_view text) {
  CompilerFlags options;
  options.fast_math = number_in(text, fast_math, 0, 1, 0) == 1;
  options.registers = number_in(text, registers, least_registers, most_registers, 0);
  if (number_in(text, standard, 17, 17, 0) == 17) options.standard = 17;
  return options;
}

}  // namespace tunesmith
