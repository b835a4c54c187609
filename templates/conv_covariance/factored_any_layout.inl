// SPDX-License-Identifier: Apache-2.0
// conv_covariance/factored_any in shared memory, in sums: two tiles of p, of so many rows (values of x times
// BLOCK_D diagonals) of vectors of GAMMA_VECTOR values of x', then the means.

constexpr LayoutSize factored_any_most_slots = 8;  // of outputs that are begun and not complete

LAYOUT_FUNCTION LayoutSize factored_any_rows(LayoutSize tile_rows, LayoutSize mask_width,
                                             LayoutSize block_d) {
  return (tile_rows + mask_width - 1) * block_d;
}
LAYOUT_FUNCTION LayoutSize factored_any_row_vectors(LayoutSize tile_columns, LayoutSize mask_width,
                                                    LayoutSize gamma_vector) {
  return ceil_divide(tile_columns + mask_width - 1, gamma_vector);
}
