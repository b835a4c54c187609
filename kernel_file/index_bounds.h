// SPDX-License-Identifier: Apache-2.0
// Reads from a kernel's code how far its indices go: "if (i < n) y[i] = …" says that y has n elements.
// Private to kernel_file/.
#pragma once

#include <cstdint>
#include <functional>
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
  bool is_passed = false;     ///< used in a form that is not followed, such as an argument
  bool is_at_place = false;   ///< written at a place that sizes alone give: all else stays
  bool is_by_block = false;   ///< written at the block's number: it has an element per block
  bool is_by_thread = false;  ///< used at the thread's number in the grid, without a guard
};

class IndexBounds {
 public:
  /// `body` is the kernel's, blanked; `sizes` are names of whole numbers that the launch gives, `macros` the
  /// texts of others. `bytes_of` returns the bytes of a type, or of an element of the kernel's array of that
  /// name; 0: not known.
  IndexBounds(std::string_view body, std::set<std::string> sizes,
              const std::map<std::string, std::string>& macros,
              const std::function<std::int64_t(const std::string&)>& bytes_of);

  ArrayUse use_of(const std::string& array) const;

  /// Returns the extents by which the array is indexed, the outermost first; empty: not understood.
  std::vector<std::string> extents_of(const std::string& array) const;

  /// Returns the largest values of sizes that arrays within the kernel allow: `float h[16]` with `h[i]`,
  /// where `i < states`. `value_of` returns the value of a constant.
  std::map<std::string, std::int64_t> limits(
      const std::function<std::optional<std::int64_t>(const std::string&)>& value_of) const;

  /// Returns the size below which the index of a block's component 'x', 'y' or 'z' stays, and the number of
  /// indices per block, with blockDim.x as it stands; nothing: not understood.
  struct Blocks {
    std::string size, of_block;
  };
  std::optional<Blocks> blocks(char component) const;

  /// Returns the same for an index of the block and the thread, whether it has a bound or not; the size is
  /// the index's name.
  std::optional<Blocks> whole_index(char component) const;

  /// Says that all such indices stay below a size, although the kernel has no guard.
  void set_bound(char component, const std::string& of_block, const HostExpression& size);

  /// True of a size that the launch gives.
  bool is_size(const std::string& name) const { return sizes_.contains(name); }

  /// Says how many blocks a component of the grid has.
  void set_blocks(char component, const HostExpression& count);

  /// Returns the bytes to which the kernel's casts need its arrays aligned; 0: no cast needs more than
  /// elements.
  std::int64_t alignment() const { return alignment_; }

  /// True if the kernel has a guard that leaves out the first or the last elements, as of a stencil's border.
  bool leaves_border() const;

  /// True if the kernel compares something that depends on the block's number in this component. If not, it
  /// has no guard there.
  bool compares_block(char component) const;

 private:
  // Returns the expression with the definitions of its variables in their place.
  HostExpression expanded(const HostExpression& given, int depth) const;
  // Returns the only definition of a variable that never changes; null: it has none.
  const HostExpression* only_definition(const std::string& name) const;
  std::optional<HostExpression> in_sizes(const HostExpression& given, int depth) const;
  std::optional<HostExpression> bound_of(const HostExpression& index, int depth) const;
  // Writes accesses by pointers of other types, such as reinterpret_cast<float4*>(x)[i], as those of the
  // array: x[(i) * 4].
  void replace_casts(const std::function<std::int64_t(const std::string&)>& bytes_of);
  // True for the name of an array in *x and atomicAdd(x, …).
  bool is_first_element(std::size_t token) const;
  // True of blockIdx.x * blockDim.x + threadIdx.x that no guard bounds.
  bool is_of_thread(const HostExpression& index) const;
  // Returns the indices of an array, also those of pointers into it.
  std::vector<HostExpression> indices_of(const std::string& array, int depth) const;
  // Returns the expression with the definitions of those variables that have no bound.
  HostExpression opened(const HostExpression& given, int depth) const;
  std::optional<HostExpression> flat_extent(const HostExpression& index, int depth) const;
  std::vector<std::string> extents_of(const HostExpression& index, int depth) const;
  std::optional<std::string> per_block(const HostExpression& index, const std::string& block) const;

  std::int64_t alignment_ = 0;
  mutable int steps_ = 0;  // that were taken for an array
  Tokens tokens_;
  std::set<std::string> sizes_;
  std::set<std::string> changed_;  // variables that are counted up, or assigned by += and its kind
  std::map<std::string, std::vector<HostExpression>> definitions_, bounds_;  // by variable
};

}  // namespace tunesmith
