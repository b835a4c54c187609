// SPDX-License-Identifier: Apache-2.0
// The ops that this program was built with. The build writes the table from the op folders that it finds
// (cmake/ops_library.cmake), so that a new op needs only a new folder.
#pragma once

#include <string_view>
#include <vector>

#include "generator/op.h"
#include "generator/render.h"

namespace tunesmith {

const std::vector<Op>& ops();

/// The texts of the op folders and of templates/common.
const Files& template_files();

/// The files that the op's bodies are rendered from: template_files(), or a user's kernel's own files.
const Files& files_of(const Op& op);

/// Calls render() (render.h) with files_of(op).
Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target);

}  // namespace tunesmith
