// A build without the CUDA toolkit refuses every request for a GPU.
#include "generator/error.h"
#include "tuner/device.h"

namespace tunesmith {

std::unique_ptr<Device> make_cuda_device(int) {
  std::string why_none;
  static_cast<void>(cuda_devices(why_none));
  throw Error(why_none);
}

}  // namespace tunesmith
