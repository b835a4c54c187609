// SPDX-License-Identifier: Apache-2.0
// The folder of `export --static` as files: what an application's CMake builds. Knows no database and no
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
  std::string name;                  ///< of its file, without the extension: "conv2d_tiled_0123456789ab"
  std::string body;                  ///< body_text (generator/render.h)
  std::string text;                  ///< with the constants in that body
  std::vector<std::string> targets;  ///< sorted
};

struct StaticFolder {
  std::vector<std::string> ops, targets;
  std::vector<StaticKernel> kernels;
  Texts tables;  ///< by their packed names
};

/// The library's own C++ files that are not an op's: "dispatch/planner.cpp". Written by the build.
const Files& library_sources();

/// The C++ files of the op folders, and what ops share: "templates/conv2d/op.cpp".
/// Likewise.
const Files& op_sources();

/// CMakeLists.txt, README.md, LICENSE, kernels/, kernels.csv, tables/ and source/. Throws UsageError where
/// the folder has something that is not an export.
void write_static_folder(const StaticFolder& files, const std::filesystem::path& folder);

}  // namespace tunesmith
