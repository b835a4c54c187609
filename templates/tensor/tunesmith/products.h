// SPDX-License-Identifier: Apache-2.0
// Products of matrices and the convolutions of networks, in one launch with a bias and with what becomes of
// each sum. Both are lines of the op `tensor`: templates/tensor/README.md has its accuracy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tunesmith/dispatcher.h"
#include "tunesmith/tensor.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// The options of a product besides its shape.
struct ProductOptions {
  /// For plans and problems: whether a bias is added to each sum. The functions that launch are given its
  /// pointer.
  bool has_bias = false;
  /// The result instead of out, the sum with its bias: a function of it in tensor's language, such as
  /// "max(out, 0)".
  std::string finish = "out";
  std::optional<ElementType> out_type = std::nullopt;  ///< of the result; nothing: the inputs' type
  TensorAccuracy accuracy = TensorAccuracy::full;      ///< of products of f32
};

/// How the matrices of a batch lie in memory.
struct GemmMatrix {
  bool is_transposed = false;    ///< columns lie one behind the other, instead of rows
  bool is_one_for_all = false;   ///< the whole batch reads one matrix; not for c
  std::int64_t pitch = 0;        ///< elements from one row (or column, if transposed) to the next; 0: no gaps
  std::int64_t matrix_step = 0;  ///< elements from one matrix of the batch to the next; 0: no gaps
};

/// c = a b, where a is rows x depth, b is depth x columns, and c is rows x columns.
struct GemmShape {
  std::int64_t batch = 1;  ///< products
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;  ///< terms of each sum
  GemmMatrix a = {};
  GemmMatrix b = {};
  GemmMatrix c = {};
};

/// Sets c[n][i][j] to the sum of a[n][i][k] * b[n][k][j] over k, plus bias[j]. `bias` has an element for each
/// column, or is null for none. `type`: f32, f64, i32, i64, f16, bf16, i8 or u8, of a, b and bias, and of c
/// unless options say otherwise. Arrays are in memory of the dispatcher's device; c overlaps no other.
/// `stream` is a cudaStream_t. The plan is looked up by a text that is made anew, which costs some ten
/// microseconds. Without terms a sum is 0; without elements of c nothing is done. Throws UsageError for sizes
/// and a finish that are wrong, and where plan() throws. The Status tells all other errors, also a null,
/// overlapping or misaligned pointer.
Status gemm(Dispatcher& dispatcher, ElementName type, const void* a, const void* b, const void* bias, void* c,
            const GemmShape& shape, const ProductOptions& options = {}, void* stream = nullptr);
template <OneOf<float, double, std::int32_t, std::int64_t> T>
Status gemm(Dispatcher& dispatcher, const T* a, const T* b, std::type_identity_t<const T*> bias, T* c,
            const GemmShape& shape, const ProductOptions& options = {}, void* stream = nullptr) {
  return gemm(dispatcher, element_type<T>, static_cast<const void*>(a), static_cast<const void*>(b),
              static_cast<const void*>(bias), static_cast<void*>(c), shape, options, stream);
}

/// The plan that gemm() uses, to launch it many times without a look-up, and its problem as a text, to tune
/// it. Arguments of launch(): a, b, bias or null, three null pointers, c.
Plan gemm_plan(Dispatcher& dispatcher, ElementName type, const GemmShape& shape,
               const ProductOptions& options = {});
std::string gemm_problem(ElementName type, const GemmShape& shape, const ProductOptions& options = {});

/// A layer of a network: windows of an image of one to three dimensions, times masks, summed over channels
/// and taps. Masks are not mirrored, as in PyTorch's conv1d to conv3d.
struct ConvolutionShape {
  std::int64_t batch = 1;                   ///< images
  std::int64_t inputs = 1;                  ///< channels of an image
  std::int64_t outputs = 1;                 ///< channels of the result
  std::vector<std::int64_t> image = {};     ///< extents, outermost first
  std::vector<std::int64_t> taps = {};      ///< of a mask, along each of them
  std::vector<std::int64_t> stride = {};    ///< elements from one window to the next; empty: 1 along each
  std::vector<std::int64_t> dilation = {};  ///< elements from one tap to the next; empty: 1 along each
  std::vector<std::int64_t> before = {};    ///< zeros before the image; empty: none
  std::vector<std::int64_t> behind = {};    ///< zeros behind it; empty: as many as before it
  /// Each group of outputs reads its own group of inputs: inputs / groups channels. As many groups as inputs
  /// are a depthwise convolution.
  std::int64_t groups = 1;
  /// Arrays are batch x extents x channels, instead of batch x channels x extents.
  bool are_channels_last = false;
};

/// The result's extents along the dimensions of the image: (before + extent + behind - dilation * (taps - 1)
/// - 1) / stride + 1, rounded down. Throws UsageError for a shape that is wrong.
std::vector<std::int64_t> convolution_extents(const ConvolutionShape& shape);

/// Computes the layer. `image` and `result` are without gaps, in the order that `shape` says, `masks` is
/// outputs x inputs / groups x taps in both orders. `bias` has an element for each output, or is null for
/// none. All else is as for gemm().
Status convolution(Dispatcher& dispatcher, ElementName type, const void* image, const void* masks,
                   const void* bias, void* result, const ConvolutionShape& shape,
                   const ProductOptions& options = {}, void* stream = nullptr);
template <OneOf<float, double, std::int32_t, std::int64_t> T>
Status convolution(Dispatcher& dispatcher, const T* image, const T* masks,
                   std::type_identity_t<const T*> bias, T* result, const ConvolutionShape& shape,
                   const ProductOptions& options = {}, void* stream = nullptr) {
  return convolution(dispatcher, element_type<T>, static_cast<const void*>(image),
                     static_cast<const void*>(masks), static_cast<const void*>(bias),
                     static_cast<void*>(result), shape, options, stream);
}

/// The plan that convolution() uses, and its problem as a text. Arguments of launch(): image, masks, bias or
/// null, three null pointers, result.
Plan convolution_plan(Dispatcher& dispatcher, ElementName type, const ConvolutionShape& shape,
                      const ProductOptions& options = {});
std::string convolution_problem(ElementName type, const ConvolutionShape& shape,
                                const ProductOptions& options = {});

/// The problems of the Python package's words, and the shapes of their results, which have no gaps. `arrays`:
/// both operands and, for linear and conv, a bias where there is one, in any layout. `dtype`: a word of the
/// parameter of tensor, such as "f32". Of `settings` the sizes are not read. Throw UsageError.
TensorComputation matmul_computation(std::string_view dtype, const std::vector<TensorLayout>& arrays,
                                     const ProductOptions& options = {});
TensorComputation linear_computation(std::string_view dtype, const std::vector<TensorLayout>& arrays,
                                     const ProductOptions& options = {});
TensorComputation conv_computation(std::string_view dtype, const std::vector<TensorLayout>& arrays,
                                   const ConvolutionShape& settings, const ProductOptions& options = {});

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
