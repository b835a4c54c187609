// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv_covariance/factored, in sums: two tiles of p, each of `rows` values of x times
// BLOCK_D diagonals times `columns` values of x', then the means.

struct FactoredShape {
  LayoutSize tile_rows, tile_columns, block_d;  // outputs of a block; diagonals
  LayoutSize mask_width;
  LayoutSize vector, gamma_vector, real_bytes;  // elements that a thread reads and writes together; of a sum
  bool staged, padded;
};
struct FactoredLayout {
  LayoutSize rows, columns, pitch;
  LayoutSize tile;  // sums of a tile
};

LAYOUT_FUNCTION FactoredLayout factored_layout(const FactoredShape& s) {
  FactoredLayout at = {};
  const LayoutSize read_part = smaller(s.vector, 16 / s.real_bytes), banks = 128 / s.real_bytes;
  at.rows = s.tile_rows + s.mask_width - 1;
  at.columns = round_up(s.tile_columns + s.mask_width - 1, larger(read_part, s.gamma_vector));
  // Padding puts a warp's rows of threads into different banks if the rows are shorter than a warp.
  const LayoutSize pad = (s.tile_columns % banks - at.columns % banks + banks) % banks;
  at.pitch = at.columns + (s.padded ? pad : 0);
  at.tile = s.staged ? at.rows * s.block_d * at.pitch : 0;
  return at;
}
