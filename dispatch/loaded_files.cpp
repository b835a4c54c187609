// SPDX-License-Identifier: Apache-2.0
// The packed files of a program, or a Python extension, that holds none: it takes those of the shared
// library, which is installed beside it.
#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "dispatch/packed.h"
#include "generator/error.h"

namespace tunesmith {
namespace {

// The folder of the program, or the extension, that contains this code.
std::filesystem::path own_folder_of_code() {
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&packed_files), &info, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0 ||
      map == nullptr || *map->l_name == '\0')
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return std::filesystem::canonical(map->l_name).parent_path();
}

std::span<const PackedFile> load() {
  using Files = const PackedFile*(std::size_t*);
  const std::string name = TUNESMITH_LIBRARY_NAME;
  const std::filesystem::path folder = own_folder_of_code();
  void* library = nullptr;
  std::string why;
  // In a wheel the library lies beside them, in an installation below the same prefix, in a build above them.
  for (const char* below : {".", "../" TUNESMITH_LIBRARY_FOLDER, "..", "../.."}) {
    const std::filesystem::path path = folder / below / name;
    if (!std::filesystem::exists(path)) continue;
    library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library != nullptr) break;
    why = ::dlerror();
  }
  auto* const files =
      library == nullptr ? nullptr : reinterpret_cast<Files*>(::dlsym(library, "tunesmith_packed_files"));
  if (files == nullptr)
    throw Error("The library " + name + ", which holds the kernels, cannot be loaded from " +
                folder.string() + " or from ../" TUNESMITH_LIBRARY_FOLDER " beside it" +
                (why.empty() ? "" : " (" + why + ")") +
                "; install the library with the program, of the same version.");
  std::size_t count = 0;
  const PackedFile* const first = files(&count);
  return {first, count};
}

}  // namespace

std::span<const PackedFile> packed_files() {
  static const std::span<const PackedFile> files = load();
  return files;
}

}  // namespace tunesmith
