// Body + config + the compiled-in part of a problem -> one self-contained text. Pure: same inputs, same
// bytes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// File texts by their path below templates/: "conv2d/tiled.cu", "common/vector.cuh".
using Files = std::map<std::string, std::string, std::less<>>;

struct Source {
  std::string text;
  std::string hash;                  ///< SHA-256 of the text: the variant's identity
  std::string suffix;                ///< ENTRY(name) is name + suffix
  std::vector<std::string> kernels;  ///< the template's kernels, as spelled in ENTRY(kernel)
  std::string target;
};

/// `config` is of the template's space for the problem. Throws Error if a file is missing.
Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target, const Files& files);

}  // namespace tunesmith
