// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_id.h"

#include <algorithm>
#include <vector>

#include "generator/error.h"
#include "generator/nearest_name.h"
#include "generator/number_text.h"
#include "runtime/executable.h"

namespace tunesmith {
namespace {

constexpr std::string_view with_ordinal = "cuda:";

std::optional<DeviceId> read(std::string_view words) {
  if (words == "auto") return DeviceId{DeviceId::Kind::automatic};
  if (words == "host") return DeviceId{DeviceId::Kind::host};
  if (words == "cuda") return DeviceId{DeviceId::Kind::cuda, 0};
  if (!words.starts_with(with_ordinal)) return std::nullopt;
  words.remove_prefix(with_ordinal.size());
  const auto ordinal = parsed_number<int>(words);
  if (!ordinal || *ordinal < 0) return std::nullopt;
  return DeviceId{DeviceId::Kind::cuda, *ordinal};
}

}  // namespace

DeviceId DeviceId::parse(std::string_view words) {
  if (const auto id = read(words)) return *id;
  throw UsageError(
      "\"" + std::string(words) +
      "\" is not a device; allowed are auto (the first CUDA device; in the program tunesmith the host where "
      "there is none), cuda (the first CUDA device), cuda:N (such as cuda:0) and host." +
      did_you_mean(words, {"auto", "cuda", "cuda:0", "cuda:all", "host"}));
}

bool DeviceId::is_one(std::string_view words) { return read(words).has_value(); }

std::vector<DeviceId> DeviceId::parse_list(std::string_view words) {
  std::vector<DeviceId> found;
  if (words == "cuda:all") {
    std::string why_none;
    const std::size_t count = cuda_devices(why_none).size();
    if (count == 0) throw UsageError("There is no CUDA device for cuda:all, only the host. " + why_none);
    for (std::size_t i = 0; i < count; ++i) found.push_back({Kind::cuda, static_cast<int>(i)});
    return found;
  }
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    found.push_back(parse(words.substr(begin, end - begin)));
    begin = end + 1;
  }
  return found;
}

std::string DeviceId::text() const {
  switch (kind) {
    case Kind::automatic:
      return "auto";
    case Kind::host:
      return "host";
    case Kind::cuda:
      break;
  }
  return std::string(with_ordinal) + std::to_string(ordinal);
}

std::optional<std::string> why_missing(const DeviceId& id, std::span<const DeviceFacts> cuda,
                                       const std::string& why_none) {
  const bool known = id.ordinal >= 0 && static_cast<std::size_t>(id.ordinal) < cuda.size();
  if (id.kind != DeviceId::Kind::cuda || known) return std::nullopt;
  const std::string sentence = "There is no device " + id.text();
  if (cuda.empty()) return sentence + ", only the host. " + why_none;
  std::string names;
  for (std::size_t n = 0; n < cuda.size(); ++n) {
    names += (n == 0 ? "" : ", ") + DeviceId{DeviceId::Kind::cuda, static_cast<int>(n)}.text() + " (" +
             cuda[n].name + ")";
  }
  return sentence + "; the devices are " + names + " and host.";
}

ChosenDevice choose_device(const DeviceId& id, std::span<const DeviceFacts> cuda,
                           const std::string& why_none) {
  if (const auto why = why_missing(id, cuda, why_none)) throw UsageError(*why);
  if (id.kind == DeviceId::Kind::cuda) return {id, cuda[static_cast<std::size_t>(id.ordinal)]};
  if (id.kind == DeviceId::Kind::automatic && !cuda.empty()) return {{DeviceId::Kind::cuda, 0}, cuda.front()};
  const std::string note =
      id.kind == DeviceId::Kind::automatic ? "The device auto is the host on this machine. " + why_none : "";
  return {{DeviceId::Kind::host}, host_facts(), note};
}

ChosenDevice choose_device(const DeviceId& id) {
  std::string why_none;
  const std::vector<DeviceFacts> cuda = cuda_devices(why_none);
  return choose_device(id, cuda, why_none);
}

}  // namespace tunesmith
