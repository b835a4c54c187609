// SPDX-License-Identifier: Apache-2.0
// The layout of contract's shared memory, for kernel and template: the tables of places; the terms of each
// stage, if K has several digits; the runs, if the output's neighbours are joined; and the stages' tiles of
// both operands, whose place the finished sums take.

// A tile of `tile` rows of `tile_k` terms, in elements.
struct ContractOperandShape {
  LayoutSize tile, tile_k;
  LayoutSize span, reach;         // rows counted in runs of so many; where a thread's next piece begins
  LayoutSize row_padding, lanes;  // elements behind a row that stays one, and of 16 bytes
  bool along_k;
  bool tensor_cores, matrices;  // doubles, or elements of 16 bits or bytes, are multiplied in tensor cores
  bool swizzled;                // as a warpgroup takes them
  bool asynchronous;
};
struct ContractOperandLayout {
  bool skewed;           // after 8 times 16 bytes of a term's rows, 16 are left out
  bool by_rows;          // row by row, as they are copied, at a pitch with which reads hit different banks
  LayoutSize reach;      // of a thread's pieces, with what is left out
  LayoutSize pitch;      // of a term
  LayoutSize row_pitch;  // of a row, if by rows
  LayoutSize elements;   // of all
};
LAYOUT_FUNCTION ContractOperandLayout contract_operand_layout(const ContractOperandShape& s) {
  ContractOperandLayout at = {};
  const bool padded = s.along_k || s.span > 1 || s.tensor_cores || s.matrices;
  at.skewed = padded && s.span > 1 && s.span % 8 != 4 && s.reach % (8 * s.lanes) == 0;
  at.by_rows = s.along_k && ((s.tensor_cores && s.asynchronous) || s.matrices);
  at.reach = at.skewed ? s.reach + s.reach / (8 * s.lanes) * s.lanes : s.reach;
  const LayoutSize tile = at.skewed ? s.tile + ceil_divide(s.tile, 8 * s.lanes) * s.lanes : s.tile;
  // The lanes of tensor cores read four rows of each of four doubles at once. Of 16-bit elements and
  // bytes they read eight pieces of 16 bytes, a pitch apart: an odd number of pieces, so that these lie in
  // different banks.
  at.pitch = !padded          ? s.tile
             : s.matrices     ? (s.tile / s.lanes | 1) * s.lanes
             : s.tensor_cores ? round_up(tile + 4, 8) - 4
             : at.skewed      ? tile
                              : s.tile + s.lanes;
  at.row_pitch = s.matrices ? (s.tile_k / s.lanes | 1) * s.lanes : s.tile_k + s.row_padding;
  at.elements = s.swizzled ? s.tile * s.tile_k : at.by_rows ? s.tile * at.row_pitch : s.tile_k * at.pitch;
  return at;
}

// A stage: the tiles of both operands. Of halves (halves.inl) each has two planes, but of packed highs alone
// one. Behind both is a pair of words for each warp of the `threads` and each operand; or, if they are
// packed, each tile's scale.
struct ContractStageShape {
  LayoutSize first_elements, second_elements, held_bytes, threads;
  bool halved, packed_halves, one_half, swizzled;
};
struct ContractStage {
  LayoutSize second_at, ranges_at, elements;
};
constexpr LayoutSize contract_scale_bytes = 16;
LAYOUT_FUNCTION ContractStage contract_stage(const ContractStageShape& s) {
  ContractStage at = {};
  const LayoutSize planes = s.halved && !(s.packed_halves && s.one_half) ? 2 : 1;
  at.second_at = planes * s.first_elements;
  at.ranges_at = at.second_at + planes * s.second_elements;
  const LayoutSize behind = s.swizzled        ? 1024
                            : s.packed_halves ? 2 * contract_scale_bytes
                            : s.halved        ? s.threads / 32 * 2 * 8
                                              : 0;
  at.elements = at.ranges_at + behind / s.held_bytes;
  return at;
}

struct ContractShape {
  LayoutSize tile_m, tile_n, tile_k, stages;
  LayoutSize stage_elements;
  LayoutSize offset_bytes, held_bytes, out_bytes;  // of a number
  LayoutSize vector_out;                           // elements of a store
  bool counted_terms, joins;
  bool by_rows;  // finished rows take the place of the tiles
  bool swizzled;
  bool boxes;  // with two barriers for each stage; finished sums lie behind the tiles
  LayoutSize
      boxes_out;  // of this many warpgroups, which store finished sums as boxes, without tables; else 0
};
// Each warpgroup has two boxes of 64 rows of 128 bytes, one of which is filled while the other one is stored.
constexpr LayoutSize contract_box_rows = 64, contract_box_row = 128, contract_out_boxes = 2;

// A finished row in shared memory has room before and behind it, so that it begins as far from a multiple of
// 16 bytes as in the output. `out_bytes` are those of a number.
LAYOUT_FUNCTION LayoutSize contract_row_pitch(LayoutSize tile_n, LayoutSize out_bytes) {
  return tile_n + 2 * (16 / out_bytes);
}
struct ContractLayout {
  LayoutSize terms_at, runs_at, barriers_at, tiles_at, finished_at;  // in bytes
  LayoutSize bytes;                                                  // of all
};
constexpr LayoutSize contract_barrier_bytes = 16;
LAYOUT_FUNCTION ContractLayout contract_layout(const ContractShape& s) {
  ContractLayout at = {};
  at.terms_at = s.boxes_out > 0 ? 0 : 2 * (s.tile_m + s.tile_n) * s.offset_bytes;
  at.runs_at = at.terms_at + (s.counted_terms ? s.stages * 2 * s.tile_k * s.offset_bytes : 0);
  at.tiles_at = at.runs_at + (s.joins ? s.tile_n / s.vector_out * (s.offset_bytes == 4 ? 16 : 24) : 0);
  if (s.boxes) {
    at.barriers_at = round_up(at.tiles_at, contract_barrier_bytes);
    at.tiles_at = at.barriers_at + 2 * s.stages * contract_barrier_bytes;
  }
  if (s.swizzled) at.tiles_at = round_up(at.tiles_at, 1024);
  const LayoutSize tiles = s.stages * s.stage_elements * s.held_bytes;
  const LayoutSize pitch = s.by_rows ? contract_row_pitch(s.tile_n, s.out_bytes) : s.joins ? s.tile_n : 0;
  const LayoutSize boxes_out = s.boxes_out * contract_out_boxes * contract_box_rows * contract_box_row;
  const LayoutSize finished = larger(s.tile_m * pitch * s.out_bytes, boxes_out);
  at.finished_at = s.boxes ? at.tiles_at + tiles : at.tiles_at;
  at.bytes = larger(at.tiles_at + tiles, at.finished_at + finished);
  return at;
}

// A block that packs an operand: the places that it moves along each of two digits, and its threads; and the
// elements of a line in shared memory, which is longer by an element, or by a word where that has several.
constexpr LayoutSize contract_pack_side = 64, contract_pack_threads = 256;
LAYOUT_FUNCTION LayoutSize contract_pack_line(LayoutSize element) {
  return contract_pack_side + larger(1, 4 / element);
}

// The columns of a thread that a block adds which finishes parts of K: the more blocks, the fewer loads one
// after another. For the same reason up to 16 warps share the parts, at least eight each.
LAYOUT_FUNCTION LayoutSize contract_kept_columns(LayoutSize thread_n) {
  return thread_n % 8 == 0 ? 8 : thread_n;
}
constexpr LayoutSize contract_kept_threads = 512;
LAYOUT_FUNCTION LayoutSize contract_splits_of_run(LayoutSize splits) {
  return larger(8, ceil_divide(splits, contract_kept_threads / 32));
}
