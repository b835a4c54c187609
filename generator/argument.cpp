#include "generator/argument.h"

namespace tunesmith {

Extents::Extents(std::initializer_list<const char*> parameters)
    : Extents(
          [names = std::vector<std::string>(parameters.begin(), parameters.end())](const Problem& problem) {
            std::vector<std::int64_t> extents;
            extents.reserve(names.size());
            for (const std::string& name : names) extents.push_back(problem.integer(name));
            return extents;
          }) {}

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

}  // namespace tunesmith
