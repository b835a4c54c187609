// SPDX-License-Identifier: Apache-2.0
// Decides for each header that a user's text includes by <…>, or by "…" without a file beside it: kernels
// have it anyway, it is left out because they do not need it, or it stays. Private to kernel_file/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_file/preprocessor.h"
#include "kernel_file/reach.h"

namespace tunesmith {

/// True for headers that NVRTC and the host do not need: kernels get their contents without them.
bool is_known_header(const std::string& header);

/// True for headers of C and of the C++ library that a host function may include.
bool is_header_of_function(const std::string& header);

/// The name of the file in templates/common that stands on the host for a header of device functions; empty
/// if the host needs none, nothing if the host does not emulate the header.
std::optional<std::string_view> twin_of(const std::string& header);
bool is_emulated(const std::string& header);

/// A text that includes the headers <cuda/std/…> which have the names of std:: in the code, and makes them
/// std's, since NVRTC has no C++ library; empty for code that names nothing of std.
std::string library_text(std::string_view code);

/// A text that includes the headers of CUB's collectives that the code uses: NVRTC cannot compile
/// <cub/cub.cuh>, which also has what a host calls.
std::string cub_text(std::string_view code);

/// The names that conditions of the texts ask for, of which a header that is not there may define some: those
/// that the texts do not define before. `constants` are defined by Tunesmith.
std::vector<std::string> asked_names(const std::vector<CompiledText>& texts,
                                     const std::vector<std::string>& constants);

class HeaderRules {
 public:
  HeaderRules(const Reach& reach, std::vector<std::string> asked) : reach_(reach), asked_(std::move(asked)) {}

  /// Returns the first half of a sentence on why kernels do not need the header: "the kernels use nothing of
  /// the header <cublas_v2.h>". Empty: they may need it.
  std::string why_left_out(const std::string& header) const;

  bool is_of_library(const std::string& header) const;

  /// Returns the text that replaces the line that includes the header: a check in the same line, so that the
  /// compiler names that line.
  std::string in_place(const std::string& header) const;

  /// Returns what in_place() says of a header that is no library's.
  std::string absence(const std::string& header) const;

  /// Returns a text that includes the header where it is there, and the constants of in_place().
  std::string inclusion(const std::string& header) const;

 private:
  const Reach& reach_;
  std::vector<std::string> asked_;
};

}  // namespace tunesmith
