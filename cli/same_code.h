// SPDX-License-Identifier: Apache-2.0
// Tells if the machine code of kernels has changed whose text has changed since they were measured: an older
// program or checkout renders the older text, this program the newer one.
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
  std::string hash;  ///< the hash of its text when it was measured; empty: not known

  enum class State {
    unchanged,     ///< the text is the measured one
    same,          ///< another text, and the same machine code
    differs,       ///< other machine code
    not_compiled,  ///< the older or the newer text does not compile
    lost,          ///< this program has no such kernel
    not_found,     ///< the older program does not render the measured text
  };
  State state = State::unchanged;
  std::string why = {};  ///< a sentence, if it is neither unchanged nor the same
  Source now = {};       ///< unless it is lost
  std::string compiled_in = {};
  bool keeps_binary = false;
  std::string binary = {};  ///< the binary of the current text, if it is kept and the same
};

/// Returns the older text of a kernel. Throws Error if there is none. Thread-safe.
using OldText = std::function<std::string(const MeasuredKernel&)>;

/// Makes an OldText from a folder of a checkout, or from an older `tunesmith` program. Throws UsageError if
/// it is neither.
OldText old_text_from(const std::filesystem::path& old);

/// Renders the kernels by this program and sets their states: lost, unchanged, or else `differs`, with the
/// newer text and no reason yet.
void render_now(std::span<MeasuredKernel* const> kernels, std::size_t threads);

/// Compiles and compares kernels that `differs` by their text alone, each pair of texts once. `say` receives
/// lines of progress.
void compare_code(std::span<MeasuredKernel* const> kernels, const OldText& old_text, std::size_t threads,
                  const std::function<void(const std::string&)>& say);

}  // namespace tunesmith
