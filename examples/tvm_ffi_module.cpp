// SPDX-License-Identifier: Apache-2.0
// All of the dispatcher as one module of TVM FFI's ABI, which PyTorch, JAX, CuPy, C++ and whatever else
// speaks it can load and call with tensors of their own:
//   launch(op, problem, tensor, ...)   on the tensors' device and the caller's stream; None for an array that
//   is left out explain(op, problem, device)       how the kernel was chosen, as a text; device: "host",
//   "cuda", "cuda:1"
// Build it with the package apache-tvm-ffi (docs/library.md says how); tests/python/test_tvm_ffi.py does.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tunesmith/dispatcher.h"

namespace {

namespace ffi = tvm::ffi;

tunesmith::Dispatcher& dispatcher_of(const std::string& device) {
  static std::mutex mutex;
  static std::map<std::string, tunesmith::Dispatcher> dispatchers;
  const std::lock_guard lock(mutex);
  const auto found = dispatchers.find(device);
  if (found != dispatchers.end()) return found->second;
  return dispatchers.try_emplace(device, tunesmith::DispatcherOptions{.device = device}).first->second;
}

std::string name_of(const DLDevice& device) {
  if (device.device_type == kDLCPU) return "host";
  if (device.device_type == kDLCUDA) return "cuda:" + std::to_string(device.device_id);
  TVM_FFI_THROW(ValueError) << "A tensor lies on a device of DLPack's type " << device.device_type
                            << "; allowed are CPU (1) and CUDA (2).";
  TVM_FFI_UNREACHABLE();
}

void launch(ffi::PackedArgs args, ffi::Any*) {
  if (args.size() < 3)
    TVM_FFI_THROW(TypeError) << "launch() was given " << args.size()
                             << " arguments; it takes an op, a problem and the op's arrays.";
  const auto op = args[0].cast<ffi::String>();
  const auto problem = args[1].cast<ffi::String>();
  std::vector<void*> pointers;
  std::vector<std::int64_t> bytes;
  DLDevice device{kDLCPU, -1};
  for (int k = 2; k < args.size(); ++k) {
    const auto tensor = args[k].cast<ffi::Optional<ffi::TensorView>>();
    pointers.push_back(nullptr);
    bytes.push_back(0);
    if (!tensor.has_value()) continue;
    const ffi::TensorView array = tensor.value();
    const DLDevice its_device = array.device();
    if (device.device_id >= 0 &&
        (its_device.device_type != device.device_type || its_device.device_id != device.device_id))
      TVM_FFI_THROW(ValueError) << "Array " << k - 2 << " of " << op << " lies on " << name_of(its_device)
                                << ", and those before it on " << name_of(device)
                                << "; give all on one device.";
    device = its_device;
    if (!array.IsContiguous())
      TVM_FFI_THROW(ValueError) << "Array " << k - 2 << " of " << op
                                << " has gaps or another order; give a contiguous copy.";
    pointers.back() = static_cast<char*>(array.data_ptr()) + array.byte_offset();
    bytes.back() = array.numel() * ((array.dtype().bits * array.dtype().lanes + 7) / 8);
  }
  const tunesmith::Plan plan = dispatcher_of(name_of(device)).plan(std::string(op), std::string(problem));
  for (std::size_t k = 0; k < pointers.size() && k < plan.argument_count(); ++k) {
    if (bytes[k] != plan.argument_bytes(k))
      TVM_FFI_THROW(ValueError) << "Array " << k << " of " << op << " has " << bytes[k] << " bytes, and "
                                << problem << " needs " << plan.argument_bytes(k) << ".";
  }
  void* const stream =
      device.device_type == kDLCPU ? nullptr : TVMFFIEnvGetStream(device.device_type, device.device_id);
  if (const tunesmith::Status status = plan.launch(pointers, stream); !status)
    TVM_FFI_THROW(RuntimeError) << status.message();
}

ffi::String explain(const ffi::String& op, const ffi::String& problem, const ffi::String& device) {
  std::string text;
  const tunesmith::Plan plan = dispatcher_of(std::string(device)).plan(std::string(op), std::string(problem));
  for (const std::string& sentence : plan.explanation()) text += sentence + "\n";
  return text;
}

}  // namespace

extern "C" TVM_FFI_DLL_EXPORT int __tvm_ffi_launch(void*, const TVMFFIAny* args, std::int32_t count,
                                                   TVMFFIAny* result) {
  TVM_FFI_SAFE_CALL_BEGIN();
  launch(ffi::PackedArgs(reinterpret_cast<const ffi::AnyView*>(args), count),
         reinterpret_cast<ffi::Any*>(result));
  TVM_FFI_SAFE_CALL_END();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(explain, explain)
