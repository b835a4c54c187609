// SPDX-License-Identifier: Apache-2.0
// The functions that a scan may compute, by number and by name: for applications and for the op itself.
#pragma once

#include <array>
#include <string_view>

namespace tunesmith {

enum class ScanFunction { sum, product, max, min, any, all };
inline constexpr std::array<std::string_view, 6> scan_function_names = {"sum", "product", "max",
                                                                        "min", "any",     "all"};

/// inclusive: an element counts in its own result; exclusive: only those before it, and the first result is
/// 0, 1, the least or the greatest number (of floating-point types an infinity), false or true.
enum class ScanKind { inclusive, exclusive };
inline constexpr std::array<std::string_view, 2> scan_kind_names = {"inclusive", "exclusive"};

}  // namespace tunesmith
