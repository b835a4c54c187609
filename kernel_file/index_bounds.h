// SPDX-License-Identifier: Apache-2.0
// Reads from a kernel's code how far its indices go: "if (i < n) y[i] = …" says that y has n elements.
// Private to kernel_file/.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_file/c_tokens.h"
#include "kernel_file/host_code.h"

namespace tunesmith {

/// How a kernel uses the array behind a pointer.
struct ArrayUse {
  bool is_read = false, is_written = false;
  bool is_passed = false;  ///< used in a form that is not followed, such as an argument
};

class IndexBounds {
 public:
  /// `body` is the kernel's, blanked; `sizes` are names of whole numbers that the launch gives, `macros` the
  /// texts of others.
  IndexBounds(std::string_view body, std::set<std::string> sizes,
              const std::map<std::string, std::string>& macros);

  ArrayUse use_of(const std::string& array) const;

  /// Returns the extents by which the array is indexed, the outermost first; empty: not understood.
  std::vector<std::string> extents_of(const std::string& array) const;

  /// Returns the size below which the index of a block's component 'x', 'y' or 'z' stays, and the number of
  /// indices per block, with blockDim.x as it stands; nothing: not understood.
  struct Blocks {
    std::string size, of_block;
  };
  std::optional<Blocks> blocks(char component) const;

  /// Returns the same for the component x of an index without a bound; the size is the index's name.
  std::optional<Blocks> unguarded() const;

 private:
  // Returns the expression with the definitions of its variables in their place.
  HostExpression expanded(const HostExpression& given, int depth) const;
  std::optional<HostExpression> in_sizes(const HostExpression& given, int depth) const;
  std::optional<HostExpression> bound_of(const HostExpression& index, int depth) const;
  std::vector<std::string> extents_of(const HostExpression& index, int depth) const;
  std::optional<std::string> per_block(const HostExpression& index, const std::string& block) const;

  Tokens tokens_;
  std::set<std::string> sizes_;
  std::map<std::string, std::vector<HostExpression>> definitions_, bounds_;  // by variable
};

}  // namespace tunesmith
