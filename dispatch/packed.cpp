#include "dispatch/packed.h"

#include <algorithm>

namespace tunesmith {

std::string_view packed(std::string_view name) {
  for (const auto files : {packed_files(), own_packed_files()}) {
    const auto found =
        std::lower_bound(files.begin(), files.end(), name,
                         [](const PackedFile& file, std::string_view n) { return file.name < n; });
    if (found != files.end() && found->name == name) return found->bytes;
  }
  return {};
}

}  // namespace tunesmith
