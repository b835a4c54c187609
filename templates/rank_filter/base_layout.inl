// SPDX-License-Identifier: Apache-2.0
// How rank_filter/base assigns outputs to threads and blocks.
constexpr LayoutSize base_together = 4;       // outputs of a thread below each other
constexpr LayoutSize base_byte_threads = 64;  // of a block, each with a histogram
constexpr LayoutSize base_in_run = 8;         // outputs of a thread along the axis of an extreme
