// SPDX-License-Identifier: Apache-2.0
// A strip of tiles below each other in shared memory, with its windows' overhang, for rank_filter/transposed.
// Words have 4 bytes.

struct TransposedShape {
  LayoutSize tile_x, tile_y, steps, run, rounds;
  LayoutSize in_word, vector;  // elements of a word, and of an access to the image
  LayoutSize before_x;         // places of a window before its own
};
struct TransposedLayout {
  LayoutSize left;            // the first column is moved so far that vectors of the image are vectors here
  LayoutSize skipped, first;  // words of these, elements of the next
  LayoutSize words, pitch;    // of a row
  LayoutSize rows, kept;      // of the strip; of a tile, and those that are read meanwhile
  LayoutSize stacks_pitch;    // words of a column of the transposed tile
  LayoutSize out_pitch;       // words of a row of outputs
  LayoutSize transposed_at;   // words before the transposed tile
  LayoutSize out_at;          // words before its outputs, which may stand where a single tile has been
  LayoutSize places_bytes;    // of the rows' places in the image, which come first
  LayoutSize bytes;           // of all
};

LAYOUT_FUNCTION TransposedLayout transposed_layout(const TransposedShape& s, LayoutSize rows_window,
                                                   LayoutSize columns_window) {
  TransposedLayout at = {};
  at.left = columns_window == 1 ? 0 : (s.vector - s.before_x % s.vector) % s.vector;
  at.skipped = at.left / s.in_word;
  at.first = at.left % s.in_word;
  at.words = ceil_divide(at.first + s.tile_x + columns_window - 1, s.in_word);
  at.pitch = round_up(at.skipped + at.words, 4);
  at.rows = s.steps * s.tile_y + rows_window - 1;
  at.kept = s.steps == 1 ? at.rows : round_up(2 * s.tile_y + rows_window - 1, s.run);
  at.stacks_pitch = s.tile_y / s.in_word + 1;  // odd: words beside each other go to different banks
  at.out_pitch = s.tile_x / s.in_word + 4;     // an odd number of 16 bytes, for the same reason
  const LayoutSize read = at.kept * at.pitch, out = s.tile_y * at.out_pitch;
  const LayoutSize transposed = round_up(at.words * s.in_word * at.stacks_pitch, 4);
  at.transposed_at = s.steps == 1 ? larger(read, out) : read;
  at.out_at = s.steps == 1 ? 0 : at.transposed_at + transposed;
  const LayoutSize behind = columns_window == 1 ? 0 : transposed + (s.steps == 1 ? 0 : out);
  at.places_bytes = 8 * round_up(at.rows, 2);
  at.bytes = at.places_bytes + 4 * (at.transposed_at + behind);
  return at;
}

// Threads of a block: a thread has at most `rounds` runs along the columns, and then along the rows.
LAYOUT_FUNCTION LayoutSize transposed_threads(const TransposedShape& s, LayoutSize columns_window) {
  const LayoutSize words = transposed_layout(s, 1, columns_window).words;
  const LayoutSize runs = larger(words * (s.tile_y / s.run), s.tile_y / s.in_word * (s.tile_x / s.run));
  return round_up(ceil_divide(runs, s.rounds), 32);
}
