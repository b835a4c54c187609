// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv1d/sliding, in elements: a part of the taps, then a row of samples for each row of
// threads. The sums of all groups use the memory of the samples later.

struct SlidingLayout {
  LayoutSize pitch;     // of a row
  LayoutSize rows_at;   // behind the taps
  LayoutSize elements;  // of all
};

// `tile` outputs of each of `block_y` rows, `split` groups of threads, `part` taps; `load` elements are
// loaded together, `lanes` are an access to shared memory.
LAYOUT_FUNCTION SlidingLayout sliding_layout(LayoutSize tile, LayoutSize block_y, LayoutSize split,
                                             LayoutSize load, LayoutSize part, LayoutSize lanes) {
  SlidingLayout at = {};
  at.pitch = larger(round_up(tile + load + part, lanes) + lanes, split * tile);
  at.rows_at = round_up(load + part, lanes);
  at.elements = at.rows_at + block_y * at.pitch;
  return at;
}
