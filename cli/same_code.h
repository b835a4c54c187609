// SPDX-License-Identifier: Apache-2.0
// Kernels whose text has changed since they were measured, and whether their machine code has: the older text
// is rendered by an older program or from an older checkout, the newer one by this program.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/device_facts.h"
#include "generator/render.h"

namespace tunesmith {

/// A kernel as it was measured, and what has become of it.
struct MeasuredKernel {
  std::string op, template_name, problem, config;
  DeviceFacts device;
  std::string hash;  ///< of its text when it was measured; empty: that is not known

  enum class State {
    unchanged,     ///< the text is what was measured
    same,          ///< another text, and the same machine code
    differs,       ///< other machine code
    not_compiled,  ///< the older text or the newer one
    lost,          ///< this program has no such kernel
    not_found,     ///< the older program does not render what was measured
  };
  State state = State::unchanged;
  std::string why = {};  ///< a sentence, where it is neither unchanged nor the same
  Source now = {};       ///< unless it is lost
  std::string compiled_in = {};
  bool keeps_binary = false;
  std::string binary = {};  ///< of the text now, if it is kept and the same
};

/// The text of a kernel as it was. Throws Error where there is none. Thread-safe.
using OldText = std::function<std::string(const MeasuredKernel&)>;

/// From a folder of a checkout, or from an older `tunesmith` program. Throws UsageError if it is neither.
OldText old_text_from(const std::filesystem::path& old);

/// Renders them by this program: lost, unchanged, or else `differs`, with the newer text and no reason yet.
void render_now(std::span<MeasuredKernel* const> kernels, std::size_t threads);

/// What `differs` by its text alone is compiled, each pair of texts once, and compared. `say` gets lines of
/// progress.
void compare_code(std::span<MeasuredKernel* const> kernels, const OldText& old_text, std::size_t threads,
                  const std::function<void(const std::string&)>& say);

}  // namespace tunesmith
