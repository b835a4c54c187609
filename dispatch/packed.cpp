// SPDX-License-Identifier: Apache-2.0
#include "dispatch/packed.h"

#include <algorithm>

#include "generator/target.h"

namespace tunesmith {

std::string_view packed(std::string_view name) {
  for (const auto files : {packed_files(), application_packed_files()}) {
    const auto found =
        std::lower_bound(files.begin(), files.end(), name,
                         [](const PackedFile& file, std::string_view n) { return file.name < n; });
    if (found != files.end() && found->name == name) return found->bytes;
  }
  return {};
}

std::string_view packed_binary(std::string_view target, std::string_view source_hash) {
  std::string_view binary = packed(packed_name(target, source_hash));
  auto earlier = Target::parse(target);
  if (!earlier || earlier->kind != Target::Kind::gpu || earlier->extension != 0) return binary;
  while (binary.empty() && earlier->compute_capability % 10 > 0) {
    --earlier->compute_capability;
    binary = packed(packed_name(earlier->text(), source_hash));
  }
  return binary;
}

}  // namespace tunesmith
