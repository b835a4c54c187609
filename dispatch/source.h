// SPDX-License-Identifier: Apache-2.0
// A variant's source as dispatch needs it. The library renders it (rendered.cpp); an exported library, which
// has no texts, looks it up among the kernels that it was exported with (exported.cpp).
#pragma once

#include <string>
#include <string_view>

#include "choose/variant.h"
#include "generator/render.h"

namespace tunesmith {

/// The source of a variant. In an exported library it has no text, and no hash if the library has no such
/// kernel.
Source source_of(const VariantSpec& spec, std::string_view target);

/// Adds the op that a user's file describes to this process. Throws UsageError; in an exported library
/// always.
void add_kernel_file(const std::string& path);

/// True in an exported library: its kernels are a fixed list, and nothing is rendered or compiled.
bool is_exported();

}  // namespace tunesmith
