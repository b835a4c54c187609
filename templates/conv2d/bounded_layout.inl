// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv2d/bounded, in elements: the mask, then the tile.

struct BoundedShape {
  LayoutSize tile_width, tile_height;  // outputs
  LayoutSize load, lanes;              // elements of a load and of an access to shared memory
  LayoutSize mask_height, mask_width;
  LayoutSize phase;  // a window begins so many samples after a multiple of 4
  bool padded;
};
struct BoundedLayout {
  LayoutSize skipped;                    // samples before the first that is needed, to have whole vectors
  LayoutSize rows, columns, vectors;     // of the tile; samples and vectors of a row
  LayoutSize pitch;                      // elements of a row
  LayoutSize mask_pitch, mask_elements;  // elements of a row of the mask, and of the mask
  LayoutSize elements;                   // of all
};

// The place of a sample in a row. Threads whose rows of outputs are longer than 16 bytes would conflict in
// the same banks, so padded rows skip 16 bytes after every 128.
LAYOUT_FUNCTION LayoutSize bounded_place(LayoutSize position, LayoutSize lanes, bool padded) {
  return padded ? position + position / (8 * lanes) * lanes : position;
}

LAYOUT_FUNCTION BoundedLayout bounded_layout(const BoundedShape& s) {
  BoundedLayout at = {};
  at.skipped = s.phase % s.load;
  at.rows = s.tile_height + s.mask_height - 1;
  at.columns = at.skipped + s.tile_width + s.mask_width - 1;
  at.vectors = ceil_divide(at.columns, s.load);
  const LayoutSize used = round_up(at.vectors * s.load, s.lanes);
  at.pitch = bounded_place(used - 1, s.lanes, s.padded) / s.lanes * s.lanes + s.lanes;
  at.mask_pitch = round_up(s.mask_width, s.lanes);
  at.mask_elements = s.mask_height * at.mask_pitch;
  at.elements = at.mask_elements + at.rows * at.pitch;
  return at;
}
