// SPDX-License-Identifier: Apache-2.0
// Files that the build packed into the library (pack.cpp): the tables of generated/, and binaries of its
// winners and of each op's base, so that every op also runs on a machine without a compiler.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

struct PackedFile {
  std::string_view name;  ///< as in generated/ (winners_file.h), or packed_name(…)
  /// The file; or, with a `size`, a block of several files that Zstandard has compressed. Similar kernels
  /// are in one block, which takes half of the bytes that they would take alone.
  std::string_view bytes;
  std::size_t offset = 0, size = 0;  ///< the file's place in its block, uncompressed
};

/// Returns the file. Throws Error if its block is damaged. An exported library has no blocks, so it has a
/// version of its own.
std::string content_of(const PackedFile& file);

/// All packed files, ordered by name.
std::span<const PackedFile> packed_files();

/// The files that an application's build adds for ops and winners of its own (cmake/add_op.cmake), ordered by
/// name; its tables are in own_folder. Empty unless the application defines this function.
std::span<const PackedFile> application_packed_files();
inline constexpr const char* own_folder = "own/";

/// The targets whose binaries run on a GPU of that target, the best one first: its own; what is made for its
/// family (sm_100f on 10.3) or for all GPUs of its major compute capability from an earlier one on (sm_80
/// on 8.6). Not what is made for one other GPU alone (sm_90a).
std::vector<std::string> targets_that_run_on(std::string_view target);

bool is_packed(std::string_view name);

/// The bytes of the file of that name; empty if there is none.
std::string packed(std::string_view name);

/// The name of the binary of a source.
inline std::string packed_name(std::string_view target, std::string_view source_hash) {
  return std::string(target) + "/" + std::string(source_hash);
}

/// The packed name of a source's binary for a GPU of that target, or of one that runs there too. Empty if
/// there is none.
std::string packed_binary_name(std::string_view target, std::string_view source_hash);

/// The target of the bases that are packed as PTX, which the driver compiles for a device that has no binary
/// of its own.
inline constexpr std::string_view ptx_target = "compute_75";

}  // namespace tunesmith
