// scan, the plain kernels: one thread per line; where lines are few and long, one block per line, whose
// threads have 8 neighbouring elements each of a tile and scan their totals in shared memory. Only the
// element type and that of sums are compiled in.

#include "common/shared.cuh"
#include "scan/scan.cuh"

// One thread per line. 32 elements are combined before they are added to what is before them, and again 32 of
// those, so that a sum has fewer roundings behind it.
template <int which, bool exclusive>
__device__ __forceinline__ void scan_line(const T* from, void* y, long long to, long long length,
                                          long long inner, long long stride) {
  using S = Scan<which, T, sum_dtype == SumDtype::f64>;
  typename S::Output* const result = static_cast<typename S::Output*>(y) + to;
  typename S::Item far = S::none(), near = S::none(), own = S::none();
  for (long long l = 0; l < length; ++l) {
    if (l % 32 == 0) {
      near = S::combine(near, own);
      own = S::none();
    }
    if (l % 1024 == 0) {
      far = S::combine(far, near);
      near = S::none();
    }
    const typename S::Item before = S::combine(S::combine(far, near), own);
    const typename S::Item item = S::item(from[l * stride]);
    own = S::combine(own, item);
    result[l * inner] = S::output(exclusive ? before : S::combine(S::combine(far, near), own));
  }
}

// One block per line.
template <int which, bool exclusive>
__device__ __forceinline__ void scan_long_line(const T* from, void* y, unsigned char* memory, long long to,
                                               long long length, long long inner, long long stride) {
  using S = Scan<which, T, sum_dtype == SumDtype::f64>;
  using Item = typename S::Item;
  constexpr int items = 8;
  Item* const shared = reinterpret_cast<Item*>(memory);
  typename S::Output* const result = static_cast<typename S::Output*>(y) + to;
  const int thread = static_cast<int>(threadIdx.x);
  Item carried = S::none();
  for (long long tile = 0; tile < length; tile += BLOCK * items) {
    const long long first = tile + thread * items;
    Item item[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
      item[i] = first + i < length ? S::item(from[(first + i) * stride]) : S::none();
      if (i > 0) item[i] = S::combine(item[i - 1], item[i]);
    }
    Item up_to = item[items - 1];
    shared[thread] = up_to;
    __syncthreads();
#pragma unroll
    for (int by = 1; by < BLOCK; by *= 2) {
      const Item before = thread >= by ? shared[thread - by] : S::none();
      __syncthreads();
      up_to = S::combine(before, up_to);
      shared[thread] = up_to;
      __syncthreads();
    }
    const Item before = S::combine(carried, thread > 0 ? shared[thread - 1] : S::none());
    carried = S::combine(carried, shared[BLOCK - 1]);
    __syncthreads();  // the memory is the next tile's
#pragma unroll
    for (int i = 0; i < items; ++i) {
      if (first + i >= length) break;
      const Item earlier = i > 0 ? S::combine(before, item[i > 0 ? i - 1 : 0]) : before;
      result[(first + i) * inner] = S::output(exclusive ? earlier : S::combine(before, item[i]));
    }
  }
}

template <int which, bool exclusive>
__device__ __forceinline__ void scan_lines(const T* x, void* y, unsigned char* memory, long long lines,
                                           long long length, long long inner, long long outer_stride,
                                           long long stride) {
  const bool alone = memory == nullptr;
  const long long first = alone ? static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x : blockIdx.x;
  const long long step = alone ? static_cast<long long>(gridDim.x) * BLOCK : gridDim.x;
  for (long long line = first; line < lines; line += step) {
    const T* const from = x + line / inner * outer_stride + line % inner;
    const long long to = line / inner * length * inner + line % inner;
    if (alone) {
      scan_line<which, exclusive>(from, y, to, length, inner, stride);
    } else {
      scan_long_line<which, exclusive>(from, y, memory, to, length, inner, stride);
    }
  }
}

// Sums of another type are of sums and products alone.
#define TUNESMITH_SCANS(which)                                                            \
  if constexpr (which < 2 || sum_dtype == SumDtype::same) {                               \
    if (function == which && exclusive)                                                   \
      scan_lines<which, true>(x, y, memory, lines, length, inner, outer_stride, stride);  \
    if (function == which && !exclusive)                                                  \
      scan_lines<which, false>(x, y, memory, lines, length, inner, outer_stride, stride); \
  }

// One block per line; `function` is the position of the function's word.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base)(const T* x, void* y, long long lines, long long length, long long inner,
                     long long outer_stride, long long stride, int function, int exclusive) {
  DYNAMIC_SHARED(unsigned char, memory);
  TUNESMITH_SCANS(0)
  TUNESMITH_SCANS(1)
  TUNESMITH_SCANS(2)
  TUNESMITH_SCANS(3)
  TUNESMITH_SCANS(4)
  TUNESMITH_SCANS(5)
}

// One thread per line.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base_each)(const T* x, void* y, long long lines, long long length, long long inner,
                          long long outer_stride, long long stride, int function, int exclusive) {
  unsigned char* const memory = nullptr;
  TUNESMITH_SCANS(0)
  TUNESMITH_SCANS(1)
  TUNESMITH_SCANS(2)
  TUNESMITH_SCANS(3)
  TUNESMITH_SCANS(4)
  TUNESMITH_SCANS(5)
}
