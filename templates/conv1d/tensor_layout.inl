// SPDX-License-Identifier: Apache-2.0
// The shared memory of conv1d/tensor and conv1d/tensor_any, in words of two halves: the taps' highs and
// middles, then the samples' highs and middles.

// Samples are read from an address that is a multiple of 16, up to 3 samples before the first one needed.
constexpr LayoutSize tensor_most_skipped = 3;
// The words of B that lanes need, (t[i], t[i + 1]), are those for i from -tensor_first_pair on.
constexpr LayoutSize tensor_first_pair = 7 + tensor_most_skipped;

struct TensorLayout {
  LayoutSize steps;        // of 16 columns of A
  LayoutSize units;        // of 8 samples
  LayoutSize plane_words;  // of the samples, one of high, middle
  LayoutSize pairs;        // words of B that lanes need, one of high, middle
  LayoutSize words;        // of all
};

LAYOUT_FUNCTION LayoutSize tensor_steps(LayoutSize taps) {
  return ceil_divide(tensor_most_skipped + 7 + taps, 16);
}

// A block has `tile` outputs.
LAYOUT_FUNCTION TensorLayout tensor_layout(LayoutSize taps, LayoutSize tile) {
  TensorLayout at = {};
  at.steps = tensor_steps(taps);
  at.units = tile / 8 + 2 * at.steps - 1;
  at.plane_words = 4 * at.units;
  at.pairs = round_up(16 * at.steps + tensor_first_pair, 4);
  at.words = 2 * at.pairs + 2 * at.plane_words;
  return at;
}
