// SPDX-License-Identifier: Apache-2.0
// The place of an element of a strip of long rows in shared memory, for narrow and narrow_pitched.
// Neighbouring elements of a long row are `rows` apart. A bank is skipped after each 128 bytes, so that a
// distance of a power of two uses all banks.
LAYOUT_FUNCTION LayoutSize strip_place(LayoutSize at, LayoutSize element_bytes) {
  return at + at / larger(128 / element_bytes, 1) * larger(4 / element_bytes, 1);
}
