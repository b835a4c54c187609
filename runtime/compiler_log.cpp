// SPDX-License-Identifier: Apache-2.0
#include "runtime/compiler_log.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tunesmith {
namespace {

constexpr std::size_t most_lines = 100;
constexpr std::size_t most_bytes = 16 << 10;
constexpr std::size_t most_lines_of_error = 20;
constexpr std::string_view error = "error";

// Returns the end of `lines` lines, without the last line feed, but at most most_bytes after `begin`.
std::size_t end_of(std::string_view log, std::size_t begin, std::size_t lines) {
  std::size_t end = begin;
  for (; lines > 0 && end < log.size(); --lines) end = std::min(log.find('\n', end), log.size() - 1) + 1;
  return std::min(end, begin + most_bytes);
}

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
         (text.ends_with('\n') ? 0 : 1);
}

std::string left_out(std::string_view text) {
  return text.empty() ? "" : "… " + std::to_string(lines_in(text)) + " lines are left out …\n";
}

}  // namespace

std::string shortened_log(const std::string& log) {
  const std::string_view all = log;
  const std::size_t head = end_of(all, 0, most_lines);
  if (head == all.size()) return log;
  std::string kept(all.substr(0, head));
  std::size_t done = head;
  const std::size_t first_error = all.find(error, head);
  if (kept.find(error) == std::string::npos && first_error != std::string_view::npos) {
    const std::size_t begin = std::max(all.rfind('\n', first_error) + 1, head);
    if (!kept.ends_with('\n')) kept += '\n';
    kept += left_out(all.substr(head, begin - head));
    done = end_of(all, begin, most_lines_of_error);
    kept += all.substr(begin, done - begin);
  }
  if (!kept.ends_with('\n')) kept += '\n';
  if (done < all.size()) {
    kept += left_out(all.substr(done)) +
            "\"tunesmith render\" writes the text that was compiled: the compiler's own output has them all.";
  }
  return kept;
}

}  // namespace tunesmith
