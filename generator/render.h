// SPDX-License-Identifier: Apache-2.0
// Renders a variant: body, config and the compiled-in part of a problem become one self-contained text. Pure:
// equal inputs give equal bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

struct Source {
  std::string text;
  std::string hash;  ///< SHA-256 of what the compiler sees (identity.h): the variant's identity on any target
  std::string suffix;                ///< ENTRY(name) expands to name + suffix
  std::vector<std::string> kernels;  ///< the template's kernels, as spelled in ENTRY(kernel)
  std::string target;
};

/// `config` belongs to the template's space for the problem. Throws Error if a file is missing.
Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target, const Files& files);

/// The hash of a template's own file and its fragments as the compiler sees them: it tells measurements of an
/// edited body from older ones.
std::string body_hash(const Op& op, const Template& tmpl, const Files& files);

/// The part of render() that many variants share: the template's body with its fragments (*.inl) in their
/// places, preceded by the other files that it includes (each once), and a line constants_line at the place
/// of the variant's constants.
std::string body_text(const Op& op, const Template& tmpl, const Problem& problem, std::string_view target,
                      const Files& files);
inline constexpr std::string_view constants_line = "#include \"constants\"";

/// The line of a body that Template::generated replaces.
inline constexpr std::string_view generated_line = "#include \"generated\"";

/// The rest of render(): puts the variant's constants into such a body.
Source render_body(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
                   std::string_view target, const std::string& body);

/// Rewrites a compiler's messages on a rendered text: files and lines of the op's folder replace those of the
/// text, so that a message names block.cu:5, which a person can mend, and not variant.cu:99.
std::string located(const std::string& log, const std::string& text, const Files& files);

}  // namespace tunesmith
