// SPDX-License-Identifier: Apache-2.0
#include "generator/argument.h"

#include <algorithm>

#include "generator/number_text.h"

namespace tunesmith {

Extents::Extents(std::initializer_list<const char*> parameters)
    : Extents(
          [names = std::vector<std::string>(parameters.begin(), parameters.end())](const Problem& problem) {
            std::vector<std::int64_t> extents;
            extents.reserve(names.size());
            for (const std::string& name : names) extents.push_back(problem.integer(name));
            return extents;
          }) {}

std::string_view name(Role role) {
  return role == Role::input ? "input" : role == Role::output ? "output" : "inout";
}

std::int64_t elements(const Argument& argument, const Problem& problem) {
  const std::vector<std::int64_t> extents = argument.extents(problem);
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return 0;  // even if the product of the others would overflow
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

double size_bytes(const Argument& argument, const Problem& problem) {
  auto size = static_cast<double>(bytes(argument.dtype(problem)));
  for (const std::int64_t extent : argument.extents(problem)) size *= static_cast<double>(extent);
  return size;
}

std::string describe(const Contents& contents) {
  if (!contents.what.empty()) return contents.what;
  const std::string least = printed("%g", contents.least), most = printed("%g", contents.most);
  const std::string range = " from " + least + " to " + most;
  switch (contents.spread) {
    case Contents::uniform:
      return contents.least == contents.most ? least + " everywhere" : "numbers" + range;
    case Contents::magnitudes:
      return "numbers of either sign and of sizes" + range;
    case Contents::ascending:
      return "ascending numbers" + range;
    case Contents::few:
      return least + ", " + most + " and the middle of both";
    case Contents::huge:
      return "huge numbers";
    case Contents::denormal:
      return "denormal numbers";
    case Contents::with_nan:
      return "numbers" + range + " and NaN";
    case Contents::offsets:
      return "offsets" + range;
    case Contents::permutation:
      return "a permutation";
    case Contents::distant:
      return std::string("numbers from ") + (contents.most < 0 ? "-1001 to -1000" : "1000 to 1001") +
             ", with 1000 times the usual error permitted (integers: " +
             (contents.most < 0   ? "numbers that a narrower type cannot hold"
              : contents.most > 1 ? "unsigned ones about the largest signed one, others with large sums"
                                  : "numbers with large sums") +
             ", short types: from -100 to 100)";
  }
  return "numbers";
}

}  // namespace tunesmith
