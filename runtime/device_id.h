// SPDX-License-Identifier: Apache-2.0
// A device as people name it: auto, cuda, cuda:N or host. The one place that reads these words, and that says
// which devices there are, and why there is none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

struct DeviceId {
  enum class Kind {
    automatic,  ///< "auto": the first CUDA device, else the host
    cuda,       ///< "cuda:N", as cudaSetDevice counts; "cuda" is the first
    host,       ///< "host"
  };
  Kind kind = Kind::automatic;
  int ordinal = 0;  ///< of a CUDA device

  /// Throws UsageError naming the words that are allowed.
  static DeviceId parse(std::string_view words);
  static bool is_one(std::string_view words);  ///< whether parse() takes them
  /// Also "cuda:all" and names with commas between them; at least one. Throws UsageError.
  static std::vector<DeviceId> parse_list(std::string_view words);

  std::string text() const;  ///< "auto", "cuda:0", "host"

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// For help texts.
inline constexpr const char* device_words = "auto, cuda, cuda:N or host";

struct ChosenDevice {
  DeviceId id;  ///< never automatic
  DeviceFacts facts;
  std::string note = {};  ///< why auto is the host here; else empty

  /// As cudaSetDevice counts; -1: the host.
  int ordinal() const { return id.kind == DeviceId::Kind::host ? -1 : id.ordinal; }
};

/// That device of this machine. Throws UsageError naming the devices there are, and why there is no CUDA
/// device.
ChosenDevice choose_device(const DeviceId& id);

/// The same where `cuda` are the CUDA devices and `why_none` says why there is none.
ChosenDevice choose_device(const DeviceId& id, std::span<const DeviceFacts> cuda,
                           const std::string& why_none);

/// Why there is no such device, as a sentence, or nothing.
std::optional<std::string> why_missing(const DeviceId& id, std::span<const DeviceFacts> cuda,
                                       const std::string& why_none);

}  // namespace tunesmith
