// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv2d/tiled, in elements: the mask, then the image's tile.

struct TiledShape {
  LayoutSize tile_width, tile_height, out_x;  // outputs of a block, and of a thread along a row
  LayoutSize mask_height, mask_width, left;   // `left` columns before an output's own
  LayoutSize vector, lanes;                   // elements of a load and of an access to shared memory
  bool mask_staged, staged, padded;           // what passes through shared memory, and whether it is padded
};
struct TiledLayout {
  LayoutSize before;         // columns before the tile's; keeps vectors aligned in both memories
  LayoutSize rows, vectors;  // of the tile, and of a row
  bool skewed;               // 16 bytes are left out after each 128
  LayoutSize pitch;          // elements of a row
  LayoutSize mask_pitch;     // elements of a row of the mask
  LayoutSize mask_elements;  // of the mask
  LayoutSize elements;       // of all
};

// VECTOR=4 makes few copies; the largest VECTOR that divides `left` reads no unneeded sample from shared
// memory. Threads whose rows of outputs are longer than 16 bytes would conflict in the same banks, so padded
// rows are skewed then. Shorter rows conflict only across the block's rows; for these, padding widens the
// pitch.
LAYOUT_FUNCTION TiledLayout tiled_layout(const TiledShape& s) {
  TiledLayout at = {};
  at.before = round_up(s.left, s.vector);
  at.rows = s.tile_height + s.mask_height - 1;
  const LayoutSize columns = at.before - s.left + s.tile_width + s.mask_width - 1;
  at.vectors = ceil_divide(columns, s.vector);
  const LayoutSize used = round_up(at.vectors * s.vector, s.lanes);
  at.skewed = s.padded && s.out_x > s.lanes;
  const LayoutSize pads = at.skewed ? ceil_divide(used, 8 * s.lanes) : s.padded ? 1 : 0;
  at.pitch = used + pads * s.lanes;
  at.mask_pitch = round_up(s.mask_width, s.lanes);
  at.mask_elements = s.mask_staged ? s.mask_height * at.mask_pitch : 0;
  at.elements = at.mask_elements + (s.staged ? at.rows * at.pitch : 0);
  return at;
}
