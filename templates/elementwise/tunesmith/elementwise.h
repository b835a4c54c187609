// SPDX-License-Identifier: Apache-2.0
// One function of up to six arrays, element by element, with NumPy's broadcasting: out = function(a, b, ...).
// templates/elementwise/README.md lists the functions and their accuracy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// The layout of an input in memory. It is broadcast to the output's shape as in NumPy: compared from the
/// last one, each of its extents is 1 or the output's.
struct ElementwiseLayout {
  std::vector<std::int64_t> extents = {};  ///< outermost first; empty: the output's
  std::vector<std::int64_t> strides = {};  ///< in elements, 0 or more, one per extent; empty: no gaps
};

struct ElementwiseInput {
  const void* data = nullptr;
  ElementwiseLayout layout = {};
};

/// The plan for a function on arrays of these shapes, to launch it many times without a look-up. `function`
/// is "add", "hypot", "gaussian_pdf", "polar_distance" or an expression in a to f, such as "a * b + c".
/// `shape` has the output's extents, outermost first, each 0 or more; empty means one element. At most six
/// extents may be left after those are merged that are contiguous in every array. There may be fewer `inputs`
/// than the function has; the others are laid out like the output. Arguments of launch(): a, b, c, d, e, f
/// (null for those that do not exist) and out. Throws where plan() throws; the sentence says what is wrong
/// with the expression, the shape or an input.
Plan elementwise_plan(Dispatcher& dispatcher, const std::string& function, ElementName type,
                      const std::vector<std::int64_t>& shape,
                      const std::vector<ElementwiseLayout>& inputs = {});

/// Plans and launches. An existing plan is looked up by its text, which costs some microseconds. `inputs` has
/// one element for each input of the function; otherwise it throws. `out` is row-major without gaps, in
/// memory of the dispatcher's device. It may be an input of the same layout, and must not overlap the others.
/// `stream` is a cudaStream_t. The Status tells null, overlapping or misaligned pointers.
Status elementwise(Dispatcher& dispatcher, const std::string& function, ElementName type,
                   const std::vector<std::int64_t>& shape, const std::vector<ElementwiseInput>& inputs,
                   void* out, void* stream = nullptr);

/// Computes out[i] = a[i] + b[i] for n elements. T is float, double, std::int32_t or std::int64_t; integers
/// wrap.
template <typename T>
Status add(Dispatcher& dispatcher, const T* a, const T* b, T* out, std::int64_t n, void* stream = nullptr);

/// Computes out[i] = sqrt(a[i]^2 + b[i]^2) without overflow of the squares. T is float or double, here and
/// below.
template <typename T>
Status hypot(Dispatcher& dispatcher, const T* a, const T* b, T* out, std::int64_t n, void* stream = nullptr);

/// The normal density at x[i]; `mean` and `sigma` are one element each, in memory of the device.
template <typename T>
Status gaussian_pdf(Dispatcher& dispatcher, const T* x, const T* mean, const T* sigma, T* out, std::int64_t n,
                    void* stream = nullptr);

/// The distance of two points given by radius and angle.
template <typename T>
Status polar_distance(Dispatcher& dispatcher, const T* rho1, const T* theta1, const T* rho2, const T* theta2,
                      T* out, std::int64_t n, void* stream = nullptr);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
