// SPDX-License-Identifier: Apache-2.0
// The layout of scan/narrow's shared memory, in bytes, for kernel and template: the data that a block's
// threads exchange, then a tile as elements, and again as results, which lie behind the elements if these are
// read again and have another size.

constexpr LayoutSize narrow_fan = 32, narrow_most_inner = 64;

// The exchanged data: the totals of the threads, four rows of items, and 8 bytes.
LAYOUT_FUNCTION LayoutSize narrow_exchanged(LayoutSize block, LayoutSize item_bytes) {
  return round_up((block + 4 * narrow_most_inner) * item_bytes + 8, 16);
}
// Where the results begin behind the exchanged data, for a tile of `elements` elements.
LAYOUT_FUNCTION LayoutSize narrow_results_at(LayoutSize elements, LayoutSize element_bytes,
                                             LayoutSize output_bytes, bool rereads) {
  return rereads && element_bytes != output_bytes ? round_up(elements * element_bytes, 16) : 0;
}
LAYOUT_FUNCTION LayoutSize narrow_bytes(LayoutSize block, LayoutSize item_bytes, LayoutSize elements,
                                        LayoutSize element_bytes, LayoutSize output_bytes, bool rereads) {
  const LayoutSize results_at = narrow_results_at(elements, element_bytes, output_bytes, rereads);
  const LayoutSize results = round_up(elements * output_bytes, 16),
                   tile = larger(results, results_at > 0 ? 0 : round_up(elements * element_bytes, 16));
  return narrow_exchanged(block, item_bytes) + results_at + tile;
}
