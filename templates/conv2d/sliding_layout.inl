// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv2d/sliding, in elements: a part of the mask, then the tile. The sums of groups use
// the memory of the tile later.

struct SlidingShape {
  LayoutSize tile_width, tile_height, split;  // outputs; groups of threads
  LayoutSize part_height, part_width;         // of the mask
  LayoutSize lanes;                           // elements of an access
};
struct SlidingLayout {
  LayoutSize weights_pitch, pitch;  // of a row of the part, and of the tile
  LayoutSize tile_at;
  LayoutSize elements;  // of all
};

LAYOUT_FUNCTION SlidingLayout sliding_layout(const SlidingShape& s) {
  SlidingLayout at = {};
  at.weights_pitch = round_up(s.part_width, s.lanes);
  at.pitch = round_up(s.tile_width + s.part_width - 1, s.lanes);
  at.tile_at = s.part_height * at.weights_pitch;
  const LayoutSize sums = (s.split - 1) * s.tile_width * s.tile_height;
  at.elements = at.tile_at + larger((s.tile_height + s.part_height - 1) * at.pitch, sums);
  return at;
}
