// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv1d/bounded, in elements: the taps, then a row of samples for each row of threads.

struct BoundedShape {
  LayoutSize tile, block_y;  // outputs of a row; rows
  LayoutSize load, lanes;    // elements of a load and of an access to shared memory
  LayoutSize taps, phase;    // a window begins so many samples after a multiple of 4
  bool padded;
};
struct BoundedLayout {
  LayoutSize skipped;       // samples before the first that is needed, which keeps vectors aligned
  LayoutSize vectors;       // that a row reads
  LayoutSize width, pitch;  // samples of a row, of which windows are read as a whole; elements
  LayoutSize taps;          // elements of the taps
  LayoutSize elements;      // of all
};

// The place of a sample in a row. Threads whose rows of outputs are longer than 16 bytes would conflict in
// the same banks, so padded rows skip 16 bytes after every 128.
LAYOUT_FUNCTION LayoutSize bounded_place(LayoutSize position, LayoutSize lanes, bool padded) {
  return padded ? position + position / (8 * lanes) * lanes : position;
}

LAYOUT_FUNCTION BoundedLayout bounded_layout(const BoundedShape& s) {
  BoundedLayout at = {};
  at.skipped = s.phase % s.load;
  at.vectors = ceil_divide(at.skipped + s.tile + s.taps - 1, s.load);
  at.width = round_up(at.vectors * s.load, s.lanes) + 2 * s.lanes;
  at.pitch = bounded_place(at.width - 1, s.lanes, s.padded) / s.lanes * s.lanes + s.lanes;
  at.taps = round_up(s.taps, s.lanes);
  at.elements = at.taps + s.block_y * at.pitch;
  return at;
}
