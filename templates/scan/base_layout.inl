// SPDX-License-Identifier: Apache-2.0
// How scan/base deals out a line to threads, for kernel and template.
constexpr LayoutSize base_items = 8;  // of a thread, loaded before the first is used
