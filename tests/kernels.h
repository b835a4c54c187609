// SPDX-License-Identifier: Apache-2.0
// Kernels whose results are the same on the host and on a GPU.
#pragma once

namespace tunesmith {

/// Shuffles within segments of `width` lanes; thread t gives 1000 + t, as the type `Number`; out[16 t + n] is
/// the n-th result.
inline constexpr const char* shuffle_kernel = R"(
template <typename Number>
__device__ void shuffles(long long* out, Number own, int width) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  out += t * 16;
  out[0] = static_cast<long long>(__shfl_sync(~0u, own, 5, width));
  out[1] = static_cast<long long>(__shfl_sync(~0u, own, t * 7 % 32, width));
  out[2] = static_cast<long long>(__shfl_up_sync(~0u, own, 3, width));
  out[3] = static_cast<long long>(__shfl_down_sync(~0u, own, 3, width));
  out[4] = static_cast<long long>(__shfl_xor_sync(~0u, own, 6, width));
  out[5] = static_cast<long long>(__shfl_xor_sync(~0u, own, 9, width));
}
extern "C" __global__ void ENTRY(kernel)(long long* out, int width, int type) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  const int own = 1000 + t;
  if (type == 0) shuffles(out, own, width);
  if (type == 1) shuffles(out, static_cast<unsigned>(own), width);
  if (type == 2) shuffles(out, static_cast<long long>(own), width);
  if (type == 3) shuffles(out, static_cast<unsigned long long>(own), width);
  if (type == 4) shuffles(out, static_cast<float>(own), width);
  if (type == 5) shuffles(out, static_cast<double>(own), width);
  if (type == 6) shuffles(out, static_cast<short>(own), width);
})";

/// Votes, matches and reductions of a one-dimensional block; needs compute capability 8.0.
inline constexpr const char* vote_kernel = R"(
extern "C" __global__ void ENTRY(kernel)(unsigned* out, const int* in) {
  const int t = threadIdx.x;
  const int own = in[t];
  out += t * 16;
  out[0] = __ballot_sync(0xffffffffu, own > 0);
  out[1] = __any_sync(0xffffffffu, own == 99) * 2 + __all_sync(0xffffffffu, own > -50);
  out[2] = __match_any_sync(0xffffffffu, own % 4);
  out[3] = static_cast<unsigned>(__reduce_add_sync(0xffffffffu, own));
  out[4] = static_cast<unsigned>(__reduce_min_sync(0xffffffffu, own));
  out[5] = static_cast<unsigned>(__reduce_max_sync(0xffffffffu, own));
  out[6] = __reduce_min_sync(0xffffffffu, static_cast<unsigned>(own));
  out[7] = __reduce_max_sync(0xffffffffu, static_cast<unsigned>(own));
  out[8] = __reduce_and_sync(0xffffffffu, static_cast<unsigned>(own));
  out[9] = __reduce_or_sync(0xffffffffu, static_cast<unsigned>(own));
  out[10] = __reduce_xor_sync(0xffffffffu, static_cast<unsigned>(own));
  int all = -1;
  out[11] = __match_all_sync(0xffffffffu, t / 32, &all);
  out[12] = static_cast<unsigned>(all);
  out[13] = __match_all_sync(0xffffffffu, t / 31, &all);
  out[14] = static_cast<unsigned>(all);
  out[15] = __activemask();
})";

/// Converts every pattern to float and back, and rounds n floats; needs common/float16.cuh before it.
inline constexpr const char* float16_kernel = R"(
template <typename T>
__device__ void convert(float* wide, unsigned short* back, const float* in, unsigned short* rounded, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 65536) {
    T value;
    value.bits = static_cast<unsigned short>(i);
    wide[i] = to_float(value);
    back[i] = from_float<T>(to_float(value)).bits;
  }
  if (i < n) rounded[i] = from_float<T>(in[i]).bits;
}
static_assert(sizeof(compute_type<BFloat16>) == 4 && sizeof(compute_type<double>) == 8, "");
extern "C" __global__ void ENTRY(kernel)(float* wide, unsigned short* back, const float* in,
                                         unsigned short* rounded, int n, int half) {
  if (half) convert<Float16>(wide, back, in, rounded, n);
  else convert<BFloat16>(wide, back, in, rounded, n);
  if (to_float(2.5) != from_float<double>(2.5) || to_float(7) != 7) __trap();
})";

}  // namespace tunesmith
