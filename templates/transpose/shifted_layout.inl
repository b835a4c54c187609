// SPDX-License-Identifier: Apache-2.0
// The shared memory of transpose/shifted: the tile in the output's order, TILE_X rows of words. Neighbouring
// threads put words into rows `lanes` apart; an odd distance spreads these over the banks. A shifted vector
// ends with a part of the next word, so a row has one more word.

struct ShiftedLayout {
  LayoutSize more_words;  // before each row of the output's tile
  LayoutSize row_words;
  LayoutSize words;  // of all
};
// A window has `window` elements, and a word `lanes`.
LAYOUT_FUNCTION ShiftedLayout shifted_layout(LayoutSize tile_x, LayoutSize tile_y, LayoutSize window,
                                             LayoutSize lanes) {
  ShiftedLayout at = {};
  at.more_words = ceil_divide(window - 1, lanes);
  at.row_words = lanes == 1 ? (at.more_words + tile_y) | 1 : at.more_words + tile_y / lanes + 1;
  at.words = tile_x * at.row_words + (lanes == 1 ? 0 : tile_x / lanes);
  return at;
}
