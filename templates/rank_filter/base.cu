// rank_filter, the plain kernel: one thread per output. Only the element type is compiled in.

#include "common/boundary.cuh"
#include "common/float16.cuh"
#include "rank_filter/rank_filter.cuh"

using Order = Keys<T>;
using Key = Order::Key;

struct Window {
  const T* image;
  long long depth, height, width;  // of the image
  long long z, y, x;               // of the window's first place
  int planes, rows, columns;
  const unsigned long long* bits;  // which places count; null: all
  int boundary;
  T outside;
};

// Calls use(key) for each element that counts.
template <typename Use>
__device__ __forceinline__ void for_elements(const Window& w, const Use& use) {
  const bool inside = w.z >= 0 && w.z + w.planes <= w.depth && w.y >= 0 && w.y + w.rows <= w.height &&
                      w.x >= 0 && w.x + w.columns <= w.width;
  int place = 0;
  for (int k = 0; k < w.planes; ++k) {
    const long long plane = inside ? w.z + k : sample_at(w.z + k, w.depth, w.boundary);
    for (int i = 0; i < w.rows; ++i) {
      const long long row = inside ? w.y + i : sample_at(w.y + i, w.height, w.boundary);
      const T* const from = w.image + (plane * w.height + row) * w.width;
      for (int j = 0; j < w.columns; ++j, ++place) {
        if (w.bits != nullptr && (w.bits[place / 64] >> (place % 64) & 1) == 0) continue;
        const long long column = inside ? w.x + j : sample_at(w.x + j, w.width, w.boundary);
        const bool there = inside || (plane >= 0 && row >= 0 && column >= 0);
        use(Order::key(there ? from[column] : w.outside));
      }
    }
  }
}

// The smallest key that at least `rank` + 1 elements do not exceed. Near an end of the order by walking from
// key to key, of which there is one for each rank at most; else bit by bit.
__device__ __forceinline__ Key ranked(const Window& w, int rank, int count) {
  constexpr Key all = Order::bits == 8 * sizeof(Key) ? ~Key(0) : (Key(1) << Order::bits % 64) - 1;
  const bool backward = rank > count - 1 - rank;
  int left = backward ? count - 1 - rank : rank;
  if (left >= Order::bits) {
    Key found = 0;
    for (int bit = Order::bits - 1; bit >= 0; --bit) {
      const Key candidate = found | Key(1) << bit;
      int below = 0;
      for_elements(w, [&](Key key) { below += key < candidate; });
      if (below <= rank) found = candidate;
    }
    return found;
  }
  const Key turn = backward ? all : 0;  // then the order is the other way round
  Key from = 0;
  for (;;) {
    Key next = all;
    int alike = 0;
    for_elements(w, [&](Key given) {
      const Key key = given ^ turn;
      if (key < from) return;
      if (key == next) ++alike;
      if (key < next) {
        next = key;
        alike = 1;
      }
    });
    if (left < alike) return next ^ turn;
    left -= alike;
    from = next + 1;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rank_filter_base)(const T* image, T* output, long long depth, long long height, long long width,
                            int planes, int rows, int columns, int before_z, int before_y, int before_x,
                            int rank, int count, int boundary, double outside, int has_bits,
                            long long bits0, long long bits1, long long bits2,
                            long long bits3, long long bits4, long long bits5,
                            long long bits6, long long bits7, long long bits8,
                            long long bits9, long long bits10, long long bits11,
                            long long bits12, long long bits13, long long bits14,
                            long long bits15, long long bits16, long long bits17,
                            long long bits18, long long bits19, long long bits20,
                            long long bits21, long long bits22, long long bits23,
                            long long bits24, long long bits25, long long bits26,
                            long long bits27, long long bits28, long long bits29,
                            long long bits30, long long bits31) {
  const long long places[] = {bits0, bits1, bits2, bits3, bits4, bits5, bits6, bits7, bits8, bits9, bits10, bits11, bits12, bits13, bits14, bits15, bits16, bits17, bits18, bits19, bits20, bits21, bits22, bits23, bits24, bits25, bits26, bits27, bits28, bits29, bits30, bits31};
  unsigned long long bits[32];
  if (has_bits != 0) {
    for (int n = 0; n < 32; ++n) bits[n] = static_cast<unsigned long long>(places[n]);
  }
  const long long outputs = depth * height * width;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < outputs; at += step) {
    const long long line = at / width;
    const Window window = {image,
                           depth,
                           height,
                           width,
                           line / height - before_z,
                           line % height - before_y,
                           at % width - before_x,
                           planes,
                           rows,
                           columns,
                           has_bits != 0 ? bits : nullptr,
                           boundary,
                           from_outside<T>(outside)};
    output[at] = Order::value(ranked(window, rank, count));
  }
}
