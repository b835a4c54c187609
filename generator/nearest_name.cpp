// SPDX-License-Identifier: Apache-2.0
#include "generator/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace tunesmith {
namespace {

constexpr std::size_t longest = 64;      // letters; a longer word is not compared
constexpr std::size_t fewest_begun = 3;  // letters of a word that is the beginning of a name

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Counts the letters that are added, left out, replaced or swapped with the next (Damerau 1964, optimal
// string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  if (word.size() < 2 || word.size() > longest) return "";
  const std::string given = lower(word);
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string& name : names) {
    if (name.size() > longest) continue;
    const std::string other = lower(name);
    const bool begun = given.size() >= fewest_begun && other.starts_with(given);
    const std::size_t apart = begun && given != other ? 1 : edits(given, other);
    if (apart >= least) continue;
    least = apart;
    nearest = &name;
  }
  return nearest == nullptr ? "" : " Did you mean " + *nearest + "?";
}

}  // namespace tunesmith
