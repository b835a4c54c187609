// SPDX-License-Identifier: Apache-2.0
#include "dispatch/packed.h"

#include <algorithm>

#include "generator/target.h"

namespace tunesmith {

namespace {

const PackedFile* find_packed(std::string_view name) {
  for (const auto files : {packed_files(), application_packed_files()}) {
    const auto found =
        std::lower_bound(files.begin(), files.end(), name,
                         [](const PackedFile& file, std::string_view n) { return file.name < n; });
    if (found != files.end() && found->name == name) return &*found;
  }
  return nullptr;
}

}  // namespace

bool is_packed(std::string_view name) { return find_packed(name) != nullptr; }

std::string packed(std::string_view name) {
  const PackedFile* const file = find_packed(name);
  return file == nullptr ? std::string() : content_of(*file);
}

std::vector<std::string> targets_that_run_on(std::string_view target) {
  std::vector<std::string> found = {std::string(target)};
  auto earlier = Target::parse(target);
  if (!earlier || earlier->kind != Target::Kind::gpu) return found;
  for (int minor = earlier->compute_capability % 10; minor >= 0; --minor, --earlier->compute_capability) {
    for (const char extension : {'f', '\0'}) {
      earlier->extension = extension;
      if (earlier->text() != target) found.push_back(earlier->text());
    }
  }
  return found;
}

std::string packed_binary_name(std::string_view target, std::string_view source_hash) {
  for (const std::string& one : targets_that_run_on(target))
    if (std::string name = packed_name(one, source_hash); is_packed(name)) return name;
  return {};
}

}  // namespace tunesmith
