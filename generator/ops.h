// SPDX-License-Identifier: Apache-2.0
// The ops that this program was built with. The table is written by the build from the op folders it finds
// (cmake/ops_library.cmake), so adding an op is adding a folder.
#pragma once

#include <string_view>
#include <vector>

#include "generator/op.h"
#include "generator/render.h"

namespace tunesmith {

const std::vector<Op>& ops();

/// The texts of the op folders and of templates/common.
const Files& template_files();

/// Those that the op's bodies are rendered from: these, or a user's kernel's own.
const Files& files_of(const Op& op);

/// render() with files_of().
Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target);

}  // namespace tunesmith
