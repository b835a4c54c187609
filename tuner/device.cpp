#include "tuner/device.h"

#include <charconv>

#include "generator/error.h"

namespace tunesmith {

std::unique_ptr<Device> make_device(std::string_view id) {
  if (id == "host") return make_host_device();
  std::string why_none;
  const std::vector<DeviceFacts> gpus = cuda_devices(why_none);
  constexpr std::string_view prefix = "cuda:";
  if (id.substr(0, prefix.size()) == prefix) {
    std::size_t ordinal = 0;
    const char* end = id.data() + id.size();
    const auto [stop, failure] = std::from_chars(id.data() + prefix.size(), end, ordinal);
    if (failure == std::errc() && stop == end && ordinal < gpus.size()) {
      return make_cuda_device(static_cast<int>(ordinal));
    }
  }
  std::string names = "host";
  for (std::size_t n = 0; n < gpus.size(); ++n)
    names += ", cuda:" + std::to_string(n) + " (" + gpus[n].name + ")";
  throw UsageError("There is no device " + std::string(id) + "; the devices are " + names + "." +
                   (gpus.empty() ? " " + why_none : ""));
}

}  // namespace tunesmith
