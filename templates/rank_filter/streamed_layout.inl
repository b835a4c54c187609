// SPDX-License-Identifier: Apache-2.0
// A warp's strip of a row, for rank_filter/streamed: 32 lanes have VECTOR bytes each, and the first of these
// lanes have outputs.

struct StreamedLayout {
  LayoutSize left;         // columns before its outputs: whole vectors, and what may stand for columns behind
  LayoutSize skipped;      // words before a lane's windows
  LayoutSize first_byte;   // in the next word
  LayoutSize needed;       // words of a lane's windows
  LayoutSize out_columns;  // outputs
};

LAYOUT_FUNCTION StreamedLayout streamed_layout(LayoutSize vector, LayoutSize window_width,
                                               LayoutSize before_x) {
  StreamedLayout at = {};
  at.left = round_up(larger(before_x, window_width - 1 - before_x), vector);
  at.skipped = (at.left - before_x) / 4;
  at.first_byte = (at.left - before_x) % 4;
  at.needed = ceil_divide(at.first_byte + vector + window_width - 1, 4);
  at.out_columns = (32 - (at.skipped + at.needed - 1) / (vector / 4)) * vector;
  return at;
}
