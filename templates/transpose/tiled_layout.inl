// SPDX-License-Identifier: Apache-2.0
// The shared memory of transpose/tiled: the tile in the output's order, TILE_X rows of TILE_Y elements.
// Threads of a warp put cells into rows VECTOR_IN apart. In a padded tile, each group of VECTOR_IN rows is
// shifted by one more unit, which is a vector of the output and at least a bank (4 bytes).

struct TiledLayout {
  LayoutSize unit, pad;  // elements
  LayoutSize elements;   // of all
};
LAYOUT_FUNCTION TiledLayout tiled_layout(LayoutSize tile_x, LayoutSize tile_y, LayoutSize vector_in,
                                         LayoutSize vector_out, LayoutSize element_bytes, bool padded) {
  TiledLayout at = {};
  at.unit = larger(vector_out, 4 / smaller(element_bytes, 4));
  at.pad = padded ? at.unit : 0;
  at.elements = tile_x * tile_y + (tile_x / vector_in - 1) * at.pad;
  return at;
}
