// SPDX-License-Identifier: Apache-2.0
// The strip of a block of filter_bank/sliding, and its shared memory in elements: rows of the filters' sums
// along the column masks, then the column masks, then the row masks.

struct SlidingShape {
  LayoutSize block, columns, rows, outputs;  // threads, columns of each, rows of a group, outputs of a thread
  LayoutSize buffers, vector, lanes;         // groups; elements of the widest access to the image, and of one
                                             // to shared memory
  LayoutSize filters, taps_y, taps_x, channels;
  LayoutSize phase;  // elements before a window's own, modulo 4
};
struct SlidingLayout {
  LayoutSize load;              // elements of a load
  LayoutSize shift;             // columns by which a strip begins further to the left, to have whole vectors
  LayoutSize reach;             // elements of a window beyond its first
  LayoutSize units;             // of a row: each a thread's outputs
  LayoutSize rows_at_once;      // in which threads have a unit each
  LayoutSize row, group;        // elements of a row of sums of all filters, and of a group of rows
  LayoutSize pitch_y, pitch_x;  // of a mask
  LayoutSize masks_y_at, masks_x_at;
  LayoutSize elements;  // of all
};

LAYOUT_FUNCTION SlidingLayout sliding_layout(const SlidingShape& s) {
  SlidingLayout at = {};
  const LayoutSize strip = s.block * s.columns;  // channels apart
  at.load = smaller(s.vector, smaller(s.columns, s.lanes));
  at.shift = (at.load - s.phase % at.load) % at.load;
  at.reach = (s.taps_x - 1) * s.channels;
  at.units = larger(0, strip - at.shift - at.reach) / s.outputs;
  at.rows_at_once = smaller(s.rows, s.block / larger(1, at.units));
  while (at.rows_at_once > 1 && s.rows % at.rows_at_once != 0) --at.rows_at_once;
  at.row = s.filters * strip;
  at.group = s.rows * at.row;
  at.pitch_y = round_up(s.taps_y, s.lanes);
  at.pitch_x = round_up(s.taps_x, s.lanes);
  at.masks_y_at = s.buffers * at.group;
  at.masks_x_at = at.masks_y_at + s.filters * at.pitch_y;
  at.elements = at.masks_x_at + s.filters * at.pitch_x;
  return at;
}
