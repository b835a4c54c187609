// Copies an operand into the workspace, where its rows are neighbours and its terms come one after another.

constexpr int pack_threads = 256, pack_at_once = 4;

// Visits `all` places row by row, in rows of `length`, those of a thread pack_threads apart.
template <typename Visit>
__device__ __forceinline__ void each_place(int length, int all, Visit visit) {
  const int thread = static_cast<int>(threadIdx.x);
  const int rows = pack_threads / length, rest = pack_threads - rows * length;
  int row = thread / length, along = thread - row * length;
  for (int before = thread; before < all; before += pack_at_once * pack_threads) {
    int its_row[pack_at_once], its_along[pack_at_once];
#pragma unroll
    for (int n = 0; n < pack_at_once; ++n) {
      its_row[n] = row;
      its_along[n] = along;
      row += rows;
      along += rest;
      if (along >= length) {
        along -= length;
        ++row;
      }
    }
    visit(its_row, its_along, ceil_divide(all - before, pack_threads));
  }
}

// The extents' first digit is the nearest in `to`, the second the nearest in `from` or another one; both are
// cut into pieces of the same size of at most `side`, and a block moves one piece of both. The others are
// counted through by blocks.
extern "C" __global__ void __launch_bounds__(pack_threads)
    ENTRY(tensor_contract_pack)(InputPointer<T> from, InOutPointer<T> to, long long start_from, int side,
                                SIXTEEN(int, extent), SIXTEEN(long long, from_stride),
                                SIXTEEN(long long, to_stride)) {
  if constexpr (PACK == Pack::none) return;  // it is not launched
  DYNAMIC_SHARED(T, tile);
  const int extents[16] = SIXTEEN_AS(int, extent);
  const long long from_strides[16] = SIXTEEN_AS(long long, from_stride);
  const long long to_strides[16] = SIXTEEN_AS(long long, to_stride);
  unsigned at = blockIdx.x;
  int corner[2], room[2];
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    const int pieces = ceil_divide(extents[d], side), piece = ceil_divide(extents[d], pieces);
    corner[d] = static_cast<int>(at % static_cast<unsigned>(pieces)) * piece;
    room[d] = min(piece, extents[d] - corner[d]);
    at /= static_cast<unsigned>(pieces);
  }
  long long source = start_from + corner[0] * from_strides[0] + corner[1] * from_strides[1];
  long long target = corner[0] * to_strides[0] + corner[1] * to_strides[1];
  constexpr int digits = larger(M_RANK, N_RANK) + K_RANK + BATCH_RANK;
#pragma unroll
  for (int d = 2; d < smaller(16, digits + 1); ++d) {
    const unsigned extent = static_cast<unsigned>(extents[d]);
    const long long digit = at % extent;
    source += digit * from_strides[d];
    target += digit * to_strides[d];
    at /= extent;
  }
  start();
  const int all = room[0] * room[1], pitch = room[0] | 1;  // odd: for different banks
  const auto read = [&](const int(&first)[pack_at_once], const int(&second)[pack_at_once], int count) {
    T held[pack_at_once];
#pragma unroll
    for (int n = 0; n < pack_at_once; ++n)
      if (n < count) held[n] = from[source + first[n] * from_strides[0] + second[n] * from_strides[1]];
#pragma unroll
    for (int n = 0; n < pack_at_once; ++n)
      if (n < count) tile[second[n] * pitch + first[n]] = held[n];
  };
  if (from_strides[1] == 1) {
    each_place(room[1], all, read);
  } else {
    each_place(room[0], all,
               [&](const int(&second)[pack_at_once], const int(&first)[pack_at_once], int count) {
                 read(first, second, count);
               });
  }
  __syncthreads();
  each_place(room[0], all, [&](const int(&second)[pack_at_once], const int(&first)[pack_at_once], int count) {
#pragma unroll
    for (int n = 0; n < pack_at_once; ++n)
      if (n < count)
        to[target + first[n] * to_strides[0] + second[n] * to_strides[1]] =
            tile[second[n] * pitch + first[n]];
  });
}
