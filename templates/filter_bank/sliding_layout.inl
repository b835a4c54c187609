// SPDX-License-Identifier: Apache-2.0
// filter_bank/sliding: a strip, and shared memory in elements: rows of the filters' sums along the column
// masks, then the column masks, then the row masks.

struct SlidingShape {
  LayoutSize strip, rows, outputs, buffers;  // columns, channels apart; rows of a group; outputs of a thread
  LayoutSize load, lanes;                    // elements of a load and of an access to shared memory
  LayoutSize filters, taps_y, taps_x, channels;
  LayoutSize phase;  // elements before a window's own, modulo 4
};
struct SlidingLayout {
  LayoutSize shift;             // columns by which a strip begins further to the left, to have whole vectors
  LayoutSize reach;             // elements of a window beyond its first
  LayoutSize units;             // of a row: each a thread's outputs
  LayoutSize row, group;        // elements of a row of sums of all filters, and of a group of rows
  LayoutSize pitch_y, pitch_x;  // of a mask
  LayoutSize masks_y_at, masks_x_at;
  LayoutSize elements;  // of all
};

LAYOUT_FUNCTION SlidingLayout sliding_layout(const SlidingShape& s) {
  SlidingLayout at = {};
  at.shift = (s.load - s.phase % s.load) % s.load;
  at.reach = (s.taps_x - 1) * s.channels;
  at.units = larger(0, s.strip - at.shift - at.reach) / s.outputs;
  at.row = s.filters * s.strip;
  at.group = s.rows * at.row;
  at.pitch_y = round_up(s.taps_y, s.lanes);
  at.pitch_x = round_up(s.taps_x, s.lanes);
  at.masks_y_at = s.buffers * at.group;
  at.masks_x_at = at.masks_y_at + s.filters * at.pitch_y;
  at.elements = at.masks_x_at + s.filters * at.pitch_x;
  return at;
}
