// SPDX-License-Identifier: Apache-2.0
// A device as people name it: auto, cuda, cuda:N or host. Only this file reads these words, lists the devices
// and says why there is none.
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

  /// Throws UsageError that names the allowed words.
  static DeviceId parse(std::string_view words);
  static bool is_one(std::string_view words);  ///< true if parse() accepts them
  /// Also accepts "cuda:all" and names with commas between them; returns at least one device. Throws
  /// UsageError.
  static std::vector<DeviceId> parse_list(std::string_view words);

  std::string text() const;  ///< "auto", "cuda:0", "host"

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// The words for help texts.
inline constexpr const char* device_words = "auto, cuda, cuda:N or host";

struct ChosenDevice {
  DeviceId id;  ///< never automatic
  DeviceFacts facts;
  std::string note = {};  ///< why auto means the host here; else empty

  /// As cudaSetDevice counts; -1: the host.
  int ordinal() const { return id.kind == DeviceId::Kind::host ? -1 : id.ordinal; }
};

/// Returns that device of this machine. Throws UsageError that names the existing devices, and why there is
/// no CUDA device.
ChosenDevice choose_device(const DeviceId& id);

/// The same with given CUDA devices `cuda`; `why_none` says why there is none.
ChosenDevice choose_device(const DeviceId& id, std::span<const DeviceFacts> cuda,
                           const std::string& why_none);

/// Returns a sentence on why there is no such device, or nothing.
std::optional<std::string> why_missing(const DeviceId& id, std::span<const DeviceFacts> cuda,
                                       const std::string& why_none);

}  // namespace tunesmith
