// SPDX-License-Identifier: Apache-2.0
// A block's rows: each thread has a few columns of a strip. In shared memory are batches of rows, and then
// where each row begins that the block reads.

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

// A row's columns begin so many elements further to the left that those of a thread are aligned.
LAYOUT_FUNCTION LayoutSize extreme_shift(LayoutSize element_bytes, LayoutSize vector, LayoutSize window_width,
                                         LayoutSize before_x) {
  const LayoutSize columns = extreme_columns(element_bytes);
  return vector == 1 || window_width == 1 ? 0 : (columns - before_x % columns) % columns;
}

// Rows that go to shared memory together: whole windows.
LAYOUT_FUNCTION LayoutSize extreme_batch(LayoutSize window, LayoutSize most) {
  return window >= most ? window : most / window * window;
}

// Of the rows in shared memory.
LAYOUT_FUNCTION LayoutSize extreme_row_bytes(LayoutSize element_bytes, LayoutSize block, LayoutSize buffers,
                                             LayoutSize batch) {
  return buffers * batch * block * extreme_words(element_bytes) * extreme_word_bytes(element_bytes);
}
