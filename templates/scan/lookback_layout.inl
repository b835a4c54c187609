// SPDX-License-Identifier: Apache-2.0
// How the blocks of scan/lookback are chained, for kernel and template.
constexpr LayoutSize lookback_fan = 32;  // tiles of a level whose totals make one of the next
