#include "generator/argument.h"

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
  std::int64_t count = 1;
  for (const std::int64_t extent : argument.extents(problem)) count *= extent;
  return count;
}

double size_bytes(const Argument& argument, const Problem& problem) {
  auto size = static_cast<double>(bytes(argument.dtype(problem)));
  for (const std::int64_t extent : argument.extents(problem)) size *= static_cast<double>(extent);
  return size;
}

std::string words(const Contents& contents) {
  const char* form = "numbers from %g to %g";
  switch (contents.spread) {
    case Contents::uniform:
      if (contents.least == contents.most) form = "%g everywhere";
      break;
    case Contents::magnitudes:
      form = "numbers of either sign and of sizes from %g to %g";
      break;
    case Contents::ascending:
      form = "ascending numbers from %g to %g";
      break;
    case Contents::few:
      form = "%g, %g and the middle of both";
      break;
    case Contents::huge:
      return "huge numbers";
    case Contents::denormal:
      return "denormal numbers";
  }
  return printed(form, contents.least, contents.most);
}

}  // namespace tunesmith
