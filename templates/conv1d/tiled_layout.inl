// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv1d/tiled, in elements: the taps, then a row of samples for each row of threads,
// then rows of sums likewise. Rows may be padded as in padding.inl.

struct TiledShape {
  LayoutSize tile, out_x, block_y;         // outputs of a row, and of a thread; rows
  LayoutSize vector, store_vector, lanes;  // elements of a load, a store and an access to shared memory
  LayoutSize taps, phase;                  // a window begins so many samples after a multiple of 4
  bool taps_staged, staged, padded;        // what passes through shared memory, and whether it is padded
};
struct TiledLayout {
  LayoutSize skipped;              // samples read before the first that is needed, to have whole vectors
  LayoutSize vectors;              // that a row reads
  LayoutSize taps, pitch;          // elements of the taps, and of a row of samples
  bool regrouped;                  // whether sums pass through shared memory
  LayoutSize sums_pitch, sums_at;  // elements of a row of sums, and before the first
  LayoutSize elements;             // of all
};

LAYOUT_FUNCTION TiledLayout tiled_layout(const TiledShape& s) {
  TiledLayout at = {};
  const LayoutSize pad = s.padded ? s.lanes : 0;
  at.skipped = s.phase % s.vector;
  at.vectors = ceil_divide(at.skipped + s.tile + s.taps - 1, s.vector);
  at.taps = s.taps_staged ? round_up(s.taps, s.lanes) : 0;
  const LayoutSize samples = round_up(at.vectors * s.vector, s.lanes);
  at.pitch = round_up(samples + samples / s.out_x * pad + s.lanes, s.lanes);
  // Scalars that a thread stores one by one lie OUT_X apart from its neighbour's. If the samples pass through
  // shared memory, such outputs do too, so that neighbouring threads store neighbouring outputs.
  at.regrouped = s.staged && s.store_vector == 1 && s.out_x > 1;
  at.sums_pitch = at.regrouped ? round_up(s.tile + s.tile / s.out_x * pad, s.lanes) : 0;
  at.sums_at = at.taps + (s.staged ? s.block_y * at.pitch : 0);
  at.elements = at.sums_at + s.block_y * at.sums_pitch;
  return at;
}
