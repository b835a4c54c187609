// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv_covariance/factored_any, in sums: two tiles of p, then the means. A row of a tile
// belongs to a value of x and one of BLOCK_D diagonals, and has vectors of GAMMA_VECTOR values of x'.

constexpr LayoutSize factored_any_most_slots = 8;  // of outputs that are begun and not complete

LAYOUT_FUNCTION LayoutSize factored_any_rows(LayoutSize tile_rows, LayoutSize mask_width,
                                             LayoutSize block_d) {
  return (tile_rows + mask_width - 1) * block_d;
}
LAYOUT_FUNCTION LayoutSize factored_any_row_vectors(LayoutSize tile_columns, LayoutSize mask_width,
                                                    LayoutSize gamma_vector) {
  return ceil_divide(tile_columns + mask_width - 1, gamma_vector);
}
