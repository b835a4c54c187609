// SPDX-License-Identifier: Apache-2.0
// The rows of a block of rank_filter/extreme: each thread has a few columns of a strip. Shared memory holds
// batches of rows, then the offset of each row that the block reads.

LAYOUT_FUNCTION LayoutSize extreme_columns(LayoutSize element_bytes) {  // of a thread
  return element_bytes >= 4 ? 1 : 4 / element_bytes;
}
LAYOUT_FUNCTION LayoutSize extreme_lanes(LayoutSize element_bytes) {  // elements of a word
  return element_bytes <= 2 ? 2 : 1;
}
LAYOUT_FUNCTION LayoutSize extreme_word_bytes(LayoutSize element_bytes) { return element_bytes == 8 ? 8 : 4; }
LAYOUT_FUNCTION LayoutSize extreme_words(LayoutSize element_bytes) {  // of a thread, in a row
  return larger(1, extreme_columns(element_bytes) / extreme_lanes(element_bytes));
}

// Elements by which a row's columns begin further to the left, so that those of a thread are aligned.
LAYOUT_FUNCTION LayoutSize extreme_shift(LayoutSize element_bytes, LayoutSize vector, LayoutSize window_width,
                                         LayoutSize before_x) {
  const LayoutSize columns = extreme_columns(element_bytes);
  return vector == 1 || window_width == 1 ? 0 : (columns - before_x % columns) % columns;
}

// Rows that go to shared memory together: a multiple of the window.
LAYOUT_FUNCTION LayoutSize extreme_batch(LayoutSize window, LayoutSize most) {
  return window >= most ? window : most / window * window;
}

// Bytes of the rows in shared memory.
LAYOUT_FUNCTION LayoutSize extreme_row_bytes(LayoutSize element_bytes, LayoutSize block, LayoutSize buffers,
                                             LayoutSize batch) {
  return buffers * batch * block * extreme_words(element_bytes) * extreme_word_bytes(element_bytes);
}
