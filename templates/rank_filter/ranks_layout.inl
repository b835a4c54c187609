// SPDX-License-Identifier: Apache-2.0
// The sorted tile of a block of rank_filter/ranks, and its shared memory: the sorted keys, the groups' sets,
// each element's place among the keys, and the outputs' places. Before that, the sort uses the same memory to
// exchange items.

struct RanksShape {
  LayoutSize sorted, tile_x, group;  // elements; columns of outputs; lanes
  LayoutSize key_bytes;
  LayoutSize window_depth, window_height, window_width;
};
struct RanksLayout {
  LayoutSize columns, rows, tile_y;           // with the windows' overhang; rows of outputs
  LayoutSize groups, words;                   // of lanes; of a set, a bit for each element
  LayoutSize sets_at, places_at, results_at;  // in bytes
  LayoutSize bytes;                           // of all
};

LAYOUT_FUNCTION RanksLayout ranks_layout(const RanksShape& s) {
  RanksLayout at = {};
  at.columns = s.tile_x + s.window_width - 1;
  at.rows = s.sorted / (at.columns * s.window_depth);
  at.tile_y = at.rows - s.window_height + 1;
  at.groups = s.sorted / 8 / s.group;
  at.words = s.sorted / 32;
  at.sets_at = s.key_bytes * s.sorted;
  at.places_at = at.sets_at + 4 * at.groups * at.words;
  at.results_at = at.places_at + 2 * s.sorted;
  at.bytes = larger(2 * s.key_bytes * s.sorted, at.results_at + 2 * at.tile_y * s.tile_x);
  return at;
}
