// SPDX-License-Identifier: Apache-2.0
// A strip of few long rows in shared memory. Neighbouring elements of a long row are `rows` apart: a bank is
// skipped after each 128 bytes, so that a power of two meets all banks.
LAYOUT_FUNCTION LayoutSize strip_place(LayoutSize at, LayoutSize element_bytes) {
  return at + at / larger(128 / element_bytes, 1) * larger(4 / element_bytes, 1);
}
