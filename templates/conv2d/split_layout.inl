// SPDX-License-Identifier: Apache-2.0
// The shared memory of the templates on tensor cores, in words of two halves: the mask's weights, then the
// samples of each tile, highs before middles.

// The columns of a matrix row in units of 8. A row begins with the columns that keep vectors aligned.
LAYOUT_FUNCTION LayoutSize split_steps(LayoutSize mask_width, LayoutSize left, LayoutSize vector) {
  return ceil_divide(round_up(left, vector) - left + 8 + mask_width - 1, 8);
}

struct SplitMask {
  LayoutSize height, width, left;  // `left` columns before an output's own
};

constexpr LayoutSize tensor_tile_width = 256;  // two products of 16 x 8 outputs side by side share each B
struct TensorLayout {
  LayoutSize before;     // columns before the tile's; keeps vectors aligned
  LayoutSize steps;      // columns of A in units of 8
  LayoutSize row_units;  // units of 8 pixels in a staged row
  LayoutSize staged_rows;
  LayoutSize weight_pairs;  // words of B that the lanes need of a mask row: highs, and as many middles
  LayoutSize weight_words;  // of all mask rows
  LayoutSize words;         // of all
};
LAYOUT_FUNCTION TensorLayout tensor_layout(LayoutSize tile_height, const SplitMask& mask, LayoutSize vector) {
  TensorLayout at = {};
  at.before = round_up(mask.left, vector);
  at.steps = split_steps(mask.width, mask.left, vector);
  at.row_units = tensor_tile_width / 8 + at.steps - 1;
  at.staged_rows = tile_height + mask.height - 1;
  at.weight_pairs = 8 * at.steps + 8;
  at.weight_words = 2 * mask.height * at.weight_pairs;
  at.words = at.weight_words + 2 * at.staged_rows * at.row_units * 4;
  return at;
}

struct WarpgroupLayout {
  LayoutSize before;     // columns before the tile's; keeps vectors aligned
  LayoutSize steps;      // columns of pixels in units of 8
  LayoutSize row_units;  // units of 8 pixels in a staged row
  LayoutSize rows;       // that the outputs of a thread meet
  LayoutSize extra;      // rows of samples and of weights
  LayoutSize staged_rows;
  LayoutSize matrix_rows;   // of weights: the mask's, and zeros around them
  LayoutSize weight_words;  // one of high, middle
  LayoutSize words;         // of all
};
// A team of `groups` warpgroups has a tile of 8 times `rows` rows.
LAYOUT_FUNCTION WarpgroupLayout warpgroup_layout(LayoutSize groups, LayoutSize teams, LayoutSize rows,
                                                 const SplitMask& mask, LayoutSize vector) {
  WarpgroupLayout at = {};
  at.before = round_up(mask.left, vector);
  at.steps = split_steps(mask.width, mask.left, vector);
  at.row_units = 64 * groups / 8 + at.steps - 1;
  at.rows = rows + mask.height - 1;
  // A product has 16 columns. If the number of units of 8 is odd, the last one is paired with that of the
  // next row; an extra row is there for the last row.
  at.extra = at.steps % 2 == 1 ? at.rows % 2 : 0;
  at.staged_rows = 8 * rows + mask.height - 1 + at.extra;
  at.matrix_rows = mask.height + 2 * (rows - 1) + at.extra;
  at.weight_words = at.matrix_rows * at.steps * 32;
  at.words = 2 * at.weight_words + teams * 2 * at.staged_rows * at.row_units * 4;
  return at;
}
