// SPDX-License-Identifier: Apache-2.0
// The work of a variant on a device: its steps, as plain data that every executable can run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace tunesmith {

struct Extent {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
};

/// Divides and rounds up, for values from 0 on: the number of blocks that `value` elements need.
constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}
constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return ceil_divide(value, multiple) * multiple;
}

/// Converts a number that a kernel takes as int.
constexpr std::int32_t int32(std::int64_t value) { return static_cast<std::int32_t>(value); }

/// CUDA's limit for a grid's y and z; kernels use strided loops for larger extents.
inline constexpr std::int64_t grid_limit = 65535;

struct ArgumentPointer {
  int argument = 0;  ///< position in Op::arguments
};
struct WorkspacePointer {
  std::int64_t offset_bytes = 0;
};
using ArrayPointer = std::variant<ArgumentPointer, WorkspacePointer>;
/// A view of an array of which a kernel copies boxes to shared memory (templates/common/boxes.cuh). It is
/// encoded for each launch's pointers. CUDA wants the first element's address and all strides but the first,
/// which is 1, in multiples of 16 bytes, and the first side of a box in 128 bytes.
///
/// If windows step through the array (im2col), it is an image: its dimensions are channels, those of the
/// walks, and images; a box has the second dimension's side of pixels, one for each place of a window.
struct BoxedArray {
  struct Dimension {
    std::int64_t extent = 1, stride = 1;  ///< in elements
    std::int64_t side = 1;                ///< of a box, at most 256
    /// The walk of windows along an image's dimension: the places of their first elements, `windows` of them,
    /// `step` elements apart, from `first`, which may be before the image. No windows: it is none's.
    std::int64_t first = 0, windows = 0, step = 1;

    /// How far the walk's last place is behind the dimension's last one, as CUDA counts it.
    std::int64_t behind() const { return first + (windows - 1) * step + 1 - extent; }
  };
  ArrayPointer array;
  std::int64_t start = 0;          ///< the first element's place in the array
  std::int64_t element_bytes = 0;  ///< 1, 2 or 4
  std::vector<Dimension> dimensions;

  /// The dimensions that windows step along: 0, or those between the first and the last one.
  std::size_t walks() const {
    return dimensions.size() > 2 && dimensions[1].windows > 0 ? dimensions.size() - 2 : 0;
  }
  /// The range of `first` and behind(), and of the steps within a window, by the number of walks.
  static constexpr std::array<std::int64_t, 4> most_beyond = {0, 32768, 128, 16},
                                               most_in_window = {0, 65535, 255, 31};
  static constexpr std::int64_t most_step = 8;

  static constexpr std::size_t most_dimensions = 5, most_of_launch = 3;
  static constexpr std::int64_t bytes = 128, alignment = 64;  ///< of the parameter
};
/// The value of a kernel parameter. The alternative fixes the parameter's C type: pointer, pointer, int, long
/// long, float, double; for a vector a struct of as many int or long long and nothing else, such as `struct
/// Extents { int height, width, strides[2]; }`; a BoxedArray.
using KernelArgument = std::variant<ArgumentPointer, WorkspacePointer, std::int32_t, std::int64_t, float,
                                    double, std::vector<std::int32_t>, std::vector<std::int64_t>, BoxedArray>;

template <typename Type>
inline constexpr bool is_array =
    std::is_same_v<Type, std::vector<std::int32_t>> || std::is_same_v<Type, std::vector<std::int64_t>>;

std::int64_t argument_bytes(const KernelArgument& argument);

/// The numbers that one launch substitutes for arguments of its kernels of these types.
struct LaunchNumbers {
  static constexpr std::size_t most = 12;
  std::array<double, most> doubles = {};
  std::array<std::int32_t, most> integers = {};
};

struct Launch {
  std::string kernel;  ///< as in ENTRY(kernel)
  Extent grid = {};
  Extent block = {};
  std::int64_t dynamic_shared_bytes = 0;
  std::vector<KernelArgument> arguments = {};
  /// Programmatic dependent launch: the kernel may start before its predecessor in the stream has ended; it
  /// waits for the predecessor itself (griddepcontrol.wait) before it touches memory. Needs code for compute
  /// capability 9.0 or later; ignored elsewhere.
  bool overlaps_previous = false;
  /// True: blocks wait for blocks with lower numbers, which a GPU starts first; the host must run them in
  /// order.
  bool waits_for_blocks = false;
  /// True: its blocks wait for each other (grid.sync()), so all of them run at the same time.
  bool is_cooperative = false;
  /// By argument: its place among the LaunchNumbers of its type; -1, or beyond the end of this list: none. A
  /// launch without numbers uses the argument itself.
  std::vector<int> numbers = {};
};

/// Copies an argument into a `__constant__` or `__device__` symbol of the module. A work with such a step
/// keeps state in its module, so two streams must not run it at once; the tuner measures such a work, but
/// dispatch chooses it only if its launches take turns (Work::takes_turns).
struct ConstantCopy {
  std::string symbol;  ///< as in ENTRY(symbol)
  int argument = 0;    ///< below 0: the whole symbol is set to zero
  std::int64_t bytes = 0;
};

/// Sets the first `bytes` of an argument, or of the workspace from an offset on, to zero.
struct Zero {
  ArrayPointer what;
  std::int64_t bytes = 0;
};

using Step = std::variant<Launch, ConstantCopy, Zero>;

/// An array in a workspace that has a name for people.
struct WorkspaceArray {
  std::string name;
  std::int64_t offset_bytes = 0;
  std::int64_t bytes = 0;
  std::int64_t element_bytes = 1;
};

/// The steps of a variant and its workspace. A work without steps has nothing to do, as for an array without
/// elements.
struct Work {
  std::vector<Step> steps;
  std::int64_t workspace_bytes = 0;
  /// This many bytes at the start are zero before and after the work. The rest may hold anything; where it
  /// reaches beyond the next multiple of 256 it begins there, and the bytes before that stay zero too.
  std::int64_t zeroed_bytes = 0;
  /// True: the executable runs one launch after the other, also of several streams, so that the steps may
  /// keep state in the module. Such a launch cannot be captured into a graph.
  bool takes_turns = false;
  /// The arrays of the workspace, if all of it is named arrays; else empty.
  std::vector<WorkspaceArray> workspace_arrays = {};
};

/// A product of numbers that an int64 may not hold.
double volume(const Extent& extent);
double threads_of(const Launch& launch);
double threads_of(const Work& work);  ///< of all its launches

bool reentrant(const Work& work);  ///< true if no step keeps state in the module, or launches take turns

/// The bytes of all parameters of a launch's kernel, each at a multiple of its alignment.
std::int64_t parameter_bytes(const Launch& launch);
/// The bytes that CUDA grants to every kernel's parameters; some GPUs and versions grant more.
inline constexpr std::int64_t most_parameter_bytes = 4096;

}  // namespace tunesmith
