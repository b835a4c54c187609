// SPDX-License-Identifier: Apache-2.0
// Writes the folder of `export --static`, which an application's CMake builds. Knows no database and no
// choices.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "choose/winners_file.h"
#include "generator/render.h"

namespace tunesmith {

struct StaticKernel {
  bool on_host = false;
  std::string key;  ///< key_of (dispatch/source.h)
  std::string hash;
  std::string name;  ///< the name of its file, without the extension: "conv2d_tiled_0123456789ab"
  std::string body;  ///< body_text (generator/render.h)
  std::string text;  ///< the body with its constants
  std::vector<std::string> targets;  ///< sorted
};

struct StaticFolder {
  std::vector<std::string> ops, targets;
  std::vector<StaticKernel> kernels;
  Texts tables;          ///< table texts by packed name
  bool tvm_ffi = false;  ///< with the module for TVM FFI
};

/// Returns the library's own C++ files that do not belong to an op: "dispatch/planner.cpp". The build writes
/// it.
const Files& library_sources();

/// Returns the C++ files of the op folders, and those that ops share: "templates/conv2d/op.cpp". The build
/// writes it.
const Files& op_sources();

/// Writes CMakeLists.txt, README.md, LICENSE, kernels/, kernels.csv, tables/ and source/. Throws UsageError
/// if the folder has something that is not an export.
void write_static_folder(const StaticFolder& files, const std::filesystem::path& folder);

}  // namespace tunesmith
