// SPDX-License-Identifier: Apache-2.0
// Variants on CUDA GPUs. It uses the static runtime library alone, so that a program that links it also
// starts without a driver, and reports that there is none.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "generator/target.h"
#include "runtime/cuda_scope.h"
#include "runtime/cuda_workspaces.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"
#include "runtime/launch_check.h"

namespace tunesmith {
namespace {

LoadError::Cause cause_of(cudaError_t code) {
  if (code == cudaErrorMemoryAllocation || is_of_capture(code)) return LoadError::Cause::busy;
  return code == cudaErrorLaunchOutOfResources ? LoadError::Cause::resources : LoadError::Cause::refused;
}

[[noreturn]] void refuse(cudaError_t code, const std::string& what, LoadError::Cause cause) {
  static_cast<void>(cudaGetLastError());  // so that the caller's next check does not find this error
  throw LoadError(what + ": " + to_string(code) + ".", cause);
}

void require(cudaError_t code, const std::string& what) {
  if (code != cudaSuccess) refuse(code, what, cause_of(code));
}

// Returns the kernel's parameters; nothing if the driver does not report them (before CUDA 12.4). CUDA gives
// no count: the index after the last parameter is refused, which compute-sanitizer reports unless told
// --report-api-errors no.
std::optional<std::vector<ParameterFacts>> parameters_of(const void* kernel) {
#if CUDART_VERSION >= 12040
  std::vector<ParameterFacts> parameters;
  for (;;) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    const cudaError_t code = cudaFuncGetParamInfo(kernel, parameters.size(), &offset, &bytes);
    if (code == cudaSuccess) {
      parameters.push_back({.bytes = static_cast<std::int64_t>(bytes)});
      continue;
    }
    static_cast<void>(cudaGetLastError());
    if (code == cudaErrorInvalidValue) return parameters;  // there is no such parameter
    return std::nullopt;
  }
#else
  static_cast<void>(kernel);
  return std::nullopt;
#endif
}

struct Parameter {
  enum class Kind { argument, workspace, scalar, boxes };
  Kind kind = Kind::scalar;
  std::size_t argument = 0;                ///< index in the op's arguments
  std::int64_t offset_bytes = 0;           ///< into the workspace
  const KernelArgument* scalar = nullptr;  ///< in the work that the executable holds
  const BoxedArray* boxed = nullptr;       ///< likewise
  int place = -1;                          ///< index in the launch's numbers
};

struct LaunchStep {
  const void* kernel = nullptr;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  bool overlaps_previous = false;
  bool is_cooperative = false;
  std::vector<Parameter> parameters;
};

struct CopyStep {
  void* to = nullptr;
  int argument = 0;  ///< below 0: the symbol is set to zero
  std::size_t bytes = 0;
};

struct ZeroStep {
  std::variant<ArgumentPointer, WorkspacePointer> what;
  std::size_t bytes = 0;
};

dim3 to_dim3(const Extent& extent) {
  return {static_cast<unsigned>(extent.x), static_cast<unsigned>(extent.y), static_cast<unsigned>(extent.z)};
}

// The binary's facts on a kernel.
struct KernelFacts {
  cudaKernel_t handle = nullptr;
  cudaFuncAttributes attributes = {};
  std::optional<std::vector<ParameterFacts>> parameters;
};

bool is_captured(cudaStream_t stream) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  static_cast<void>(cudaGetLastError());  // the launch will report the error
  return false;
}

// A binary on a device, shared by the executables made from it.
class Library {
 public:
  Library(const std::string& binary, const std::string& suffix_, int ordinal_, const DeviceFacts& device_,
          bool guarded_)
      : suffix(suffix_), ordinal(ordinal_), device(device_), guarded(guarded_) {
    const OutsideCaptures outside;
    const DeviceScope scope(ordinal);
    require(scope.error(), "CUDA device " + std::to_string(ordinal) + " could not be selected");
    require(cudaLibraryLoadData(&handle_, binary.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            device.name + " refused the binary");
  }
  // A guarded library waits for its pending launches. A graph may launch its kernels at any time, so a
  // library that was captured stays loaded, and so does one that cannot be waited for.
  ~Library() {
    if (captured_) return;
    const OutsideCaptures outside;
    const DeviceScope scope(ordinal);
    if (!launched_ || cudaDeviceSynchronize() == cudaSuccess) {
      if (last_turn_ != nullptr) static_cast<void>(cudaEventDestroy(last_turn_));
      static_cast<void>(cudaLibraryUnload(handle_));  // fails if the context is lost with all its contents
    } else {
      static_cast<void>(cudaGetLastError());
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  cudaLibrary_t handle() const { return handle_; }

  /// Returns the kernel of that name and suffix; the runtime is asked once.
  const KernelFacts& kernel(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return known->second;
    KernelFacts facts;
    require(cudaLibraryGetKernel(&facts.handle, handle_, name.c_str()), "The binary has no kernel " + name);
    // The runtime accepts a handle in place of a function.
    require(cudaFuncGetAttributes(&facts.attributes, facts.handle),
            device.name + " refused the kernel " + name);
    facts.parameters = parameters_of(facts.handle);
    return kernels_.emplace(name, std::move(facts)).first->second;
  }

  /// Asks for dynamic shared memory, which is needed above 48 KiB per block.
  void allow_shared(const std::string& name, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    KernelFacts& facts = kernels_.at(name);
    if (bytes <= facts.attributes.maxDynamicSharedSizeBytes) return;
    const cudaError_t code = cudaFuncSetAttribute(facts.handle, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  static_cast<int>(bytes));
    if (code != cudaSuccess) {
      refuse(code,
             "The kernel " + name + " could not get " + std::to_string(bytes) +
                 " bytes of dynamic shared memory beside its " +
                 std::to_string(facts.attributes.sharedSizeBytes) + " of static",
             LoadError::Cause::resources);
    }
    facts.attributes.maxDynamicSharedSizeBytes = static_cast<int>(bytes);
  }

  /// Asks for clusters of more than 8 blocks. They need as many multiprocessors side by side, which not all
  /// devices of an architecture have.
  void allow_cluster(const std::string& name, const Launch& launch) {
    const std::scoped_lock lock(mutex_);
    const KernelFacts& facts = kernels_.at(name);
    const int blocks = facts.attributes.requiredClusterWidth;
    if (blocks <= 8) return;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = to_dim3(launch.grid);
    config.blockDim = to_dim3(launch.block);
    config.dynamicSmemBytes = static_cast<std::size_t>(launch.dynamic_shared_bytes);
    config.attrs = &cluster;
    config.numAttrs = 1;
    int clusters = 0;  // the number of clusters that the device runs at once
    cudaError_t code = cudaFuncSetAttribute(facts.handle, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (code == cudaSuccess) code = cudaOccupancyMaxActiveClusters(&clusters, facts.handle, &config);
    const std::string sentence = device.name + " runs no clusters of the " + std::to_string(blocks) +
                                 " blocks that the kernel " + name + " has";
    if (code != cudaSuccess) refuse(code, sentence, LoadError::Cause::resources);
    if (clusters == 0) throw LoadError(sentence + ".", LoadError::Cause::resources);
  }

  bool was_launched() const { return launched_; }

  /// The lock and the event of launches that take turns. The event is null if none could be made.
  std::mutex& turns() { return turns_; }
  cudaEvent_t last_turn() {
    if (last_turn_ == nullptr && cudaEventCreateWithFlags(&last_turn_, cudaEventDisableTiming) != cudaSuccess)
      last_turn_ = nullptr;
    return last_turn_;
  }

  /// Call it before each launch of a guarded library, until it returns true: the launch is captured.
  bool note_launch(cudaStream_t stream) noexcept {
    if (!launched_.load(std::memory_order_relaxed)) launched_ = true;
    return is_captured(stream) && (captured_ = true);
  }

  const std::string suffix;
  const int ordinal;
  const DeviceFacts& device;
  const bool guarded;

 private:
  cudaLibrary_t handle_ = nullptr;
  std::atomic<bool> launched_ = false, captured_ = false;
  std::mutex mutex_;
  std::map<std::string, KernelFacts> kernels_;
  std::mutex turns_;
  cudaEvent_t last_turn_ = nullptr;
};

// A launch that begins when the one before has ended, in whatever stream that was.
class Turn {
 public:
  Turn(Library& library, cudaStream_t stream) noexcept
      : lock_(library.turns()), event_(library.last_turn()), stream_(stream) {}
  cudaError_t begin() const noexcept {
    return event_ == nullptr ? cudaErrorMemoryAllocation : cudaStreamWaitEvent(stream_, event_, 0);
  }
  /// It is called also where a step failed, for those before it.
  cudaError_t end() const noexcept {
    return event_ == nullptr ? cudaErrorMemoryAllocation : cudaEventRecord(event_, stream_);
  }

 private:
  std::scoped_lock<std::mutex> lock_;
  cudaEvent_t event_;
  cudaStream_t stream_;
};

// Encodes the view of an array that begins at `first` as a tensor map: rows of a box are 128 bytes and
// swizzled, and what is beyond the view is 0.
#if CUDART_VERSION >= 12000
using TensorMap = CUtensorMap;

// Null if the driver is from before CUDA 12.0.
decltype(&cuTensorMapEncodeTiled) encoder() {
  static const auto function = driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  return function;
}
decltype(&cuTensorMapEncodeIm2col) encoder_of_walks() {
  static const auto function = driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  return function;
}

cudaError_t encode(TensorMap& map, const BoxedArray& boxed, void* first) noexcept {
  constexpr std::size_t most = BoxedArray::most_dimensions;
  std::array<cuuint64_t, most> extents = {}, strides = {};  // in elements; in bytes, but for the first
  std::array<cuuint32_t, most> sides = {}, steps = {};
  for (std::size_t d = 0; d < boxed.dimensions.size(); ++d) {
    const BoxedArray::Dimension& dimension = boxed.dimensions[d];
    extents[d] = static_cast<cuuint64_t>(dimension.extent);
    if (d > 0) strides[d - 1] = static_cast<cuuint64_t>(dimension.stride * boxed.element_bytes);
    sides[d] = static_cast<cuuint32_t>(dimension.side);
    steps[d] = 1;
  }
  const CUtensorMapDataType type = boxed.element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : boxed.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                              : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const auto rank = static_cast<cuuint32_t>(boxed.dimensions.size());
  CUresult code = CUDA_SUCCESS;
  if (boxed.walks() == 0) {
    code = encoder()(&map, type, rank, first, extents.data(), strides.data(), sides.data(), steps.data(),
                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  } else {
    std::array<int, most> lower = {}, upper = {};
    for (std::size_t w = 0; w < boxed.walks(); ++w) {
      const BoxedArray::Dimension& dimension = boxed.dimensions[w + 1];
      lower[w] = static_cast<int>(dimension.first);
      upper[w] = static_cast<int>(dimension.behind());
      steps[w + 1] = static_cast<cuuint32_t>(dimension.step);
    }
    code = encoder_of_walks()(&map, type, rank, first, extents.data(), strides.data(), lower.data(),
                              upper.data(), sides[0], sides[1], steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                              CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  return code == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
#else
struct alignas(BoxedArray::alignment) TensorMap {
  char bytes[BoxedArray::bytes];
};
void* encoder() { return nullptr; }
cudaError_t encode(TensorMap&, const BoxedArray&, void*) noexcept { return cudaErrorNotSupported; }
#endif
static_assert(sizeof(TensorMap) == BoxedArray::bytes);

class CudaExecutable : public Executable {
 public:
  CudaExecutable(std::shared_ptr<Library> library, const Work& work)
      : work_(work), library_(std::move(library)) {
    require_limits(work_, library_->device);
    const OutsideCaptures outside;
    const DeviceScope scope(library_->ordinal);
    require(scope.error(), "CUDA device " + std::to_string(library_->ordinal) + " could not be selected");
    for (const Step& step : work_.steps) {
      std::visit([this](const auto& one) { add(one); }, step);
    }
    require_limits(work_, library_->device, facts_.static_shared_bytes);
    if (work_.workspace_bytes > 0) workspaces_ = CudaWorkspaces::of_context(library_->ordinal);
  }
  CudaExecutable(const CudaExecutable&) = delete;
  CudaExecutable& operator=(const CudaExecutable&) = delete;

  BinaryFacts facts() const override { return facts_; }

  std::unique_ptr<Executable> with(const Work& work) const override {
    return std::make_unique<CudaExecutable>(library_, work);
  }

  int launch(void* const* arguments, void* workspace, void* stream,
             const LaunchNumbers* numbers) noexcept override {
    const DeviceScope scope(library_->ordinal);
    cudaError_t code = scope.error();
    if (workspace == nullptr && workspaces_ != nullptr && code == cudaSuccess)
      return launch_with_workspace(arguments, static_cast<cudaStream_t>(stream), numbers);
    // Only a guarded library is launched from several streams. A graph's launches would not take turns.
    const bool takes_turns = work_.takes_turns && library_->guarded;
    if (takes_turns && is_captured(static_cast<cudaStream_t>(stream)))
      return static_cast<int>(cudaErrorStreamCaptureUnsupported);
    if (library_->guarded && !steps_.empty() && !captured_.load(std::memory_order_relaxed) &&
        library_->note_launch(static_cast<cudaStream_t>(stream)))
      captured_ = true;
    std::optional<Turn> turn;
    if (takes_turns && code == cudaSuccess)
      code = turn.emplace(*library_, static_cast<cudaStream_t>(stream)).begin();
    for (auto step = steps_.begin(); code == cudaSuccess && step != steps_.end(); ++step) {
      if (const auto* kernel = std::get_if<LaunchStep>(&*step)) {
        code = run(*kernel, arguments, workspace, static_cast<cudaStream_t>(stream), numbers);
      } else if (const auto* copy = std::get_if<CopyStep>(&*step)) {
        code = copy->argument < 0
                   ? cudaMemsetAsync(copy->to, 0, copy->bytes, static_cast<cudaStream_t>(stream))
                   : cudaMemcpyAsync(copy->to, arguments[copy->argument], copy->bytes,
                                     cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream));
      } else {
        const auto& zero = std::get<ZeroStep>(*step);
        code = cudaMemsetAsync(pointer_to(zero.what, arguments, workspace), 0, zero.bytes,
                               static_cast<cudaStream_t>(stream));
      }
    }
    if (turn) {
      const cudaError_t ended = turn->end();
      if (code == cudaSuccess) code = ended;
    }
    // The error is returned, so the caller's next cudaGetLastError should not find it again.
    if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
    return static_cast<int>(code);
  }

  bool makes_workspaces() const noexcept override { return workspaces_ != nullptr; }
  bool may_be_running() const override { return library_->was_launched(); }
  bool was_captured() const override { return captured_; }

  std::string describe(int error) const override { return to_string(static_cast<cudaError_t>(error)); }

 private:
  int launch_with_workspace(void* const* arguments, cudaStream_t stream,
                            const LaunchNumbers* numbers) noexcept {
    CudaWorkspaces::Loan loan(*workspaces_, work_.workspace_bytes, work_.zeroed_bytes, stream);
    cudaError_t code = loan.error();
    if (code == cudaSuccess)
      code = static_cast<cudaError_t>(launch(arguments, loan.workspace(), stream, numbers));
    code = loan.end(code);
    if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
    return static_cast<int>(code);
  }

  void add(const Launch& launch) {
    const std::string name = launch.kernel + library_->suffix;
    const DeviceFacts& device = library_->device;
    const KernelFacts& kernel = library_->kernel(name);
    const cudaFuncAttributes& attributes = kernel.attributes;
    LaunchStep step;
    step.kernel =
        static_cast<const void*>(kernel.handle);  // the runtime takes a handle where it takes a function
    const auto static_bytes = static_cast<std::int64_t>(attributes.sharedSizeBytes);
    const std::int64_t threads = launch.block.x * launch.block.y * launch.block.z;
    if (threads > attributes.maxThreadsPerBlock) {
      throw LoadError("The kernel " + name + " is launched in blocks of " + std::to_string(threads) +
                          " threads, but with its " + std::to_string(attributes.numRegs) +
                          " registers per thread and its launch bounds " + device.name + " allows " +
                          std::to_string(attributes.maxThreadsPerBlock) + ".",
                      LoadError::Cause::resources);
    }
    facts_.registers = std::max(facts_.registers, attributes.numRegs);
    facts_.static_shared_bytes = std::max(facts_.static_shared_bytes, static_bytes);
    facts_.local_bytes = std::max(facts_.local_bytes, static_cast<std::int64_t>(attributes.localSizeBytes));

    library_->allow_shared(name, launch.dynamic_shared_bytes);
    library_->allow_cluster(name, launch);
    if (launch.arguments.size() > max_parameters) {
      throw LoadError("The kernel " + name + " takes " + std::to_string(launch.arguments.size()) +
                      " parameters; at most " + std::to_string(max_parameters) + " are supported.");
    }
    if (const auto why = place_mismatch(launch)) throw LoadError(*why);
    if (const auto why = too_many_boxes(launch)) throw LoadError(*why);
    if (kernel.parameters) {
      if (const auto why = parameter_mismatch(name, launch.arguments, *kernel.parameters))
        throw LoadError(*why);
    }
    for (const KernelArgument& argument : launch.arguments) {
      Parameter parameter;
      if (const auto* pointer = std::get_if<ArgumentPointer>(&argument)) {
        parameter.kind = Parameter::Kind::argument;
        parameter.argument = static_cast<std::size_t>(pointer->argument);
      } else if (const auto* inside = std::get_if<WorkspacePointer>(&argument)) {
        parameter.kind = Parameter::Kind::workspace;
        parameter.offset_bytes = inside->offset_bytes;
      } else if (const auto* boxed = std::get_if<BoxedArray>(&argument)) {
        if (encoder() == nullptr)
          throw LoadError("The kernel " + name +
                          " copies boxes through tensor maps, which drivers and builds have from CUDA 12.0 "
                          "on; update the one that is older.");
        parameter.kind = Parameter::Kind::boxes;
        parameter.boxed = boxed;
      } else {
        parameter.scalar = &argument;
        parameter.place = place_of(launch, step.parameters.size());
      }
      step.parameters.push_back(parameter);
    }
    step.grid = to_dim3(launch.grid);
    step.block = to_dim3(launch.block);
    step.dynamic_shared_bytes = static_cast<std::size_t>(launch.dynamic_shared_bytes);
    const bool after_kernel = steps_.empty() || std::holds_alternative<LaunchStep>(steps_.back());
    // The virtual architecture of the code, 10 * major + minor: 75 for PTX of compute_75 on a GPU of 9.0.
    step.overlaps_previous = may_overlap(launch, after_kernel, attributes.ptxVersion);
    step.is_cooperative = launch.is_cooperative;
    steps_.emplace_back(std::move(step));
  }

  void add(const ConstantCopy& copy) {
    const std::string name = copy.symbol + library_->suffix;
    CopyStep step;
    std::size_t room = 0;
    require(cudaLibraryGetGlobal(&step.to, &room, library_->handle(), name.c_str()),
            "The binary has no constant symbol " + name);
    step.argument = copy.argument;
    step.bytes = copy.argument < 0 ? room : static_cast<std::size_t>(copy.bytes);
    if (step.bytes > room) {
      throw LoadError("The constant symbol " + name + " holds " + std::to_string(room) +
                      " bytes, too few for the " + std::to_string(step.bytes) + " to be copied.");
    }
    steps_.emplace_back(step);
  }

  void add(const Zero& zero) {
    steps_.emplace_back(ZeroStep{zero.what, static_cast<std::size_t>(zero.bytes)});
  }

  static cudaError_t run(const LaunchStep& step, void* const* arguments, void* workspace, cudaStream_t stream,
                         const LaunchNumbers* numbers) {
    std::array<void*, max_parameters> pointers;              // NOLINT: filled below as far as it is read
    std::array<void*, max_parameters> in_workspace;          // NOLINT: likewise
    std::array<TensorMap, BoxedArray::most_of_launch> maps;  // NOLINT: likewise
    std::size_t number_of_maps = 0;
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      const Parameter& parameter = step.parameters[i];
      switch (parameter.kind) {
        case Parameter::Kind::argument:
          // The runtime only copies the values that these point to; its signature lacks const.
          pointers[i] = const_cast<void**>(&arguments[parameter.argument]);
          break;
        case Parameter::Kind::workspace:
          in_workspace[i] = static_cast<char*>(workspace) + parameter.offset_bytes;
          pointers[i] = &in_workspace[i];
          break;
        case Parameter::Kind::boxes: {
          TensorMap& map = maps[number_of_maps++];
          const cudaError_t code =
              encode(map, *parameter.boxed, first_of(*parameter.boxed, arguments, workspace));
          if (code != cudaSuccess) return code;
          pointers[i] = &map;
          break;
        }
        case Parameter::Kind::scalar:
          pointers[i] = const_cast<void*>(scalar_of(*parameter.scalar, parameter.place, numbers));
          break;
      }
    }
    cudaLaunchAttribute attribute = {};  // a launch needs one at most
    attribute.id = step.is_cooperative ? cudaLaunchAttributeCooperative
                                       : cudaLaunchAttributeProgrammaticStreamSerialization;
    if (step.is_cooperative) {
      attribute.val.cooperative = 1;
    } else {
      attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = step.grid;
    config.blockDim = step.block;
    config.dynamicSmemBytes = step.dynamic_shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = step.overlaps_previous || step.is_cooperative ? 1 : 0;
    return cudaLaunchKernelExC(&config, step.kernel, pointers.data());
  }

  Work work_;  ///< storage of the scalars
  std::shared_ptr<Library> library_;
  std::vector<std::variant<LaunchStep, CopyStep, ZeroStep>> steps_;
  BinaryFacts facts_;
  CudaWorkspaces* workspaces_ = nullptr;
  std::atomic<bool> captured_ = false;
};

DeviceFacts facts_of(const cudaDeviceProp& properties) {
  DeviceFacts facts;
  facts.kind = DeviceKind::cuda;
  facts.name = properties.name;
  facts.compute_capability = properties.major * 10 + properties.minor;
  facts.target = Target::of_gpu(facts.compute_capability).text();
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts.l2_bytes = properties.l2CacheSize;
  facts.shared_bytes_per_multiprocessor = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  facts.max_threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  facts.max_threads_per_block = properties.maxThreadsPerBlock;
  facts.max_shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  const auto extent = [](const int(&size)[3]) { return Extent{size[0], size[1], size[2]}; };
  facts.max_block = extent(properties.maxThreadsDim);
  facts.max_grid = extent(properties.maxGridSize);
  return facts;
}

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string why_no_device(cudaError_t code) {
  int driver = 0;
  if (code == cudaErrorInsufficientDriver) {
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
      return "There is no CUDA device: no NVIDIA driver is installed, or this container was started without "
             "it.";
    return "The NVIDIA driver supports CUDA " + cuda_version(driver) +
           ", which is too old for this build, made with CUDA " + cuda_version(CUDART_VERSION) +
           "; update the driver.";
  }
  if (code == cudaErrorNoDevice)
    return "There is a driver but no CUDA device: no GPU is present, CUDA_VISIBLE_DEVICES hides it, or this "
           "user may not open /dev/nvidia*.";
  if (code == cudaErrorOperatingSystem || code == cudaErrorNotPermitted)
    return "The operating system refuses access to the GPU (" + to_string(code) +
           "); check the permissions of /dev/nvidia*.";
  return "The CUDA runtime finds no usable device: " + to_string(code) + ".";
}

struct Devices {
  std::vector<DeviceFacts> facts;
  std::string why_none;
};

Devices find_devices() {
  Devices found;
  int count = 0;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count == 0) code = cudaErrorNoDevice;
  for (int ordinal = 0; code == cudaSuccess && ordinal < count; ++ordinal) {
    cudaDeviceProp properties = {};
    code = cudaGetDeviceProperties(&properties, ordinal);
    if (code == cudaSuccess) found.facts.push_back(facts_of(properties));
  }
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    found.facts.clear();
    found.why_none = why_no_device(code);
  }
  return found;
}

// The devices, read once: they do not change while a process runs.
const Devices& devices() {
  static const Devices found = find_devices();
  return found;
}

}  // namespace

std::unique_ptr<Executable> load_cuda(const std::string& binary, const std::string& suffix, const Work& work,
                                      int ordinal, bool guarded) {
  const Devices& there = devices();
  if (const auto why = why_missing({DeviceId::Kind::cuda, ordinal}, there.facts, there.why_none)) {
    throw LoadError(*why);
  }
  const DeviceFacts& device = there.facts[static_cast<std::size_t>(ordinal)];
  require_limits(work, device);  // checked before the binary is loaded, which is slow
  return std::make_unique<CudaExecutable>(std::make_shared<Library>(binary, suffix, ordinal, device, guarded),
                                          work);
}

bool is_cuda_memory(const void* first, std::size_t bytes, int ordinal) noexcept {
  const auto is_here = [ordinal](const void* address) {
    cudaPointerAttributes of = {};
    if (cudaPointerGetAttributes(&of, address) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return false;
    }
    switch (of.type) {
      case cudaMemoryTypeDevice:
        return of.device == ordinal;
      case cudaMemoryTypeManaged:
        return true;
      case cudaMemoryTypeHost:  // pinned
        return of.devicePointer == address;
      default:
        return false;
    }
  };
  return is_here(first) && is_here(static_cast<const char*>(first) + bytes - 1);
}

std::vector<DeviceFacts> cuda_devices(std::string& why_none) {
  why_none = devices().why_none;
  return devices().facts;
}

std::string cuda_driver() {
  int supports = 0;
  if (cudaDriverGetVersion(&supports) != cudaSuccess || supports == 0) return "";
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build …": the first word
  // that starts with a digit.
  std::ifstream version("/proc/driver/nvidia/version");
  std::string release;
  while (version >> release && std::isdigit(static_cast<unsigned char>(release.front())) == 0) {
  }
  if (!version) release.clear();
  return (release.empty() ? "" : release + " ") + "(CUDA " + cuda_version(supports) + ")";
}

}  // namespace tunesmith
