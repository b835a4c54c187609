// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv1d/chunked, in elements: a chunk's samples, then its taps, a row for each group of
// threads. Finally the same memory holds rows of the groups' sums. Rows may be padded as in padding.inl.

struct ChunkedShape {
  LayoutSize tile, out_x, split, share;  // outputs of a block, and of a thread; groups; taps of a group
  LayoutSize vector, lanes;              // elements of a load and of an access to shared memory
  bool padded;
};
struct ChunkedLayout {
  LayoutSize staged, samples;        // samples, and elements with the padding
  LayoutSize taps_pitch, sum_pitch;  // elements of a row of taps, and of sums
  LayoutSize elements;               // of all
};

LAYOUT_FUNCTION ChunkedLayout chunked_layout(const ChunkedShape& s) {
  ChunkedLayout at = {};
  const LayoutSize pad = s.padded ? s.lanes : 0;
  at.staged = round_up(s.tile + s.split * s.share, s.vector);
  at.samples = round_up(at.staged + at.staged / s.out_x * pad + s.lanes, s.lanes);
  at.taps_pitch = s.share + s.lanes;  // groups of one warp read different banks
  at.sum_pitch = round_up(s.tile + s.tile / s.out_x * pad, s.lanes);
  at.elements = larger(at.samples + s.split * at.taps_pitch, s.split * at.sum_pitch);
  return at;
}
