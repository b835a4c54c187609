// SPDX-License-Identifier: Apache-2.0
// The layout of separable's shared memory, for kernel and template: for each of STAGES steps a slab of each
// input, with the windows' overhang; with three windows, the values reduced along x; then the weights, or the
// masks of planes.

struct SeparableShape {
  LayoutSize tile_x, tile_y, taps_x, taps_y, taps_march;
  LayoutSize inputs, stages;
  LayoutSize element_bytes, compute_bytes;
  LayoutSize mask_elements;  // of all masks; 0: there is none
};
struct SeparableLayout {
  LayoutSize slab_y, pitch, slab;  // rows of a slab, elements of a row and of all
  LayoutSize slabs, between;       // elements of all slabs, and of what is reduced along x
  LayoutSize bytes;                // of all
};

LAYOUT_FUNCTION SeparableLayout separable_layout(const SeparableShape& s) {
  SeparableLayout at = {};
  at.slab_y = s.tile_y + s.taps_y - 1;
  at.pitch = round_up(s.tile_x + s.taps_x - 1, 16 / s.element_bytes);
  at.slab = at.pitch * at.slab_y;
  at.slabs = s.stages * s.inputs * at.slab;
  at.between = s.taps_y > 1 ? at.slab_y * s.tile_x : 0;
  const LayoutSize weights = s.mask_elements > 0 ? s.mask_elements : s.taps_x + s.taps_y + s.taps_march;
  at.bytes = at.slabs * s.element_bytes + (at.between + weights) * s.compute_bytes;
  return at;
}
