// SPDX-License-Identifier: Apache-2.0
// Body + config + the compiled-in part of a problem -> one self-contained text. Pure: same inputs, same
// bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

struct Source {
  std::string text;
  std::string hash;  ///< SHA-256 of what the compiler sees (identity.h): the variant's identity on any target
  std::string suffix;                ///< ENTRY(name) is name + suffix
  std::vector<std::string> kernels;  ///< the template's kernels, as spelled in ENTRY(kernel)
  std::string target;
};

/// `config` is of the template's space for the problem. Throws Error if a file is missing.
Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target, const Files& files);

/// Of a template's own file and its fragments, as the compiler sees them: tells measurements of an edited
/// body from older ones.
std::string body_hash(const Op& op, const Template& tmpl, const Files& files);

/// The half of render() that many variants have in common: the template's body, its fragments (*.inl) in
/// their places, what else it includes, once each, before it, and a line constants_line where a variant's
/// constants belong.
std::string body_text(const Op& op, const Template& tmpl, const Problem& problem, std::string_view target,
                      const Files& files);
inline constexpr std::string_view constants_line = "#include \"constants\"";

/// Of a template that has Template::generated: where that belongs in its body.
inline constexpr std::string_view generated_line = "#include \"generated\"";

/// The other half: the variant's constants in such a body.
Source render_body(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
                   std::string_view target, const std::string& body);

/// What a compiler said of such a text, with the files and lines of the op's folder in place of the text's:
/// the error is in block.cu:5, where somebody can mend it, and not in variant.cu:99.
std::string located(const std::string& log, const std::string& text, const Files& files);

}  // namespace tunesmith
