// The ops that this program was built with. The table is written by the build from the op folders it finds
// (cmake/ops_library.cmake), so adding an op is adding a folder.
#pragma once

#include <string_view>
#include <vector>

#include "generator/op.h"
#include "generator/own_op.h"
#include "generator/render.h"

namespace tunesmith {

const std::vector<Op>& ops();

/// Of these, or of those that were added (own_op.h). Throws UsageError naming the ops there are.
const Op& find_op(std::string_view name);

/// The texts of the op folders and of templates/common.
const Files& template_files();

/// Those that the op's bodies are rendered from: these, or of an op that was added (own_op.h), its own.
const Files& files_of(const Op& op);

/// Adds the op that these texts describe, for the rest of the process. Throws UsageError.
const OwnOp& add_own_op(const OwnText& text);

/// located() (render.h) with the files of the op that the text was rendered of: of one that was added, the
/// user's own files and lines.
std::string located(const std::string& log, const std::string& text);

/// render() with files_of().
Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target);

}  // namespace tunesmith
