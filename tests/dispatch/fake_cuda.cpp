// SPDX-License-Identifier: Apache-2.0
// A substitute for the CUDA runtime in tests that need a GPU that launches nothing: one H200, with the
// refusals of a capture. See fake_cuda.h.
#include "fake_cuda.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fake_cuda {

bool capturing = false, refuses_loads = false, capture_ended = false;
int launches = 0;

namespace {

thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;

// CUDA refuses calls that may wait for the device or allocate memory, unless the thread says that it knows of
// the capture.
cudaError_t unsafe() {
  if (!capturing || mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  capture_ended = true;
  return cudaErrorStreamCaptureUnsupported;
}

int of_nothing = 0;  // handles point to it

}  // namespace
}  // namespace fake_cuda

using fake_cuda::unsafe;

extern "C" {

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* other) {
  std::swap(*other, fake_cuda::mode);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = fake_cuda::capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** last,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  *id = 1;
  *graph = reinterpret_cast<cudaGraph_t>(&fake_cuda::of_nothing);
  *last = nullptr;
  *edges = nullptr;
  *count = 0;
  return cudaStreamIsCapturing(stream, status);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*, size_t*) {
  return cudaErrorNotSupported;
}
#endif
cudaError_t cudaStreamGetId(cudaStream_t, unsigned long long* id) {
  *id = 0;
  return cudaSuccess;
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void*, cudaHostFn_t, unsigned, unsigned) {
  *object = reinterpret_cast<cudaUserObject_t>(&fake_cuda::of_nothing);
  return unsafe();
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t, unsigned) { return cudaSuccess; }
cudaError_t cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  if (fake_cuda::capture_ended) return cudaErrorStreamCaptureInvalidated;
  ++fake_cuda::launches;
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void*, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  if (fake_cuda::capturing && fake_cuda::refuses_loads) return cudaErrorStreamCaptureUnsupported;
  *library = reinterpret_cast<cudaLibrary_t>(&fake_cuda::of_nothing);
  return unsafe();
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) { return unsafe(); }
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char*) {
  *kernel = reinterpret_cast<cudaKernel_t>(&fake_cuda::of_nothing);
  return unsafe();
}
cudaError_t cudaLibraryGetGlobal(void** symbol, size_t* bytes, cudaLibrary_t, const char*) {
  *symbol = &fake_cuda::of_nothing;
  *bytes = 1 << 16;
  return unsafe();
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = 90;
  return unsafe();
}
cudaError_t cudaFuncGetParamInfo(const void*, size_t, size_t*, size_t*) { return cudaErrorNotSupported; }
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return unsafe(); }
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t*) {
  *clusters = 1;
  return unsafe();
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "NVIDIA H200");
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->totalGlobalMem = std::size_t{150'000'000'000};
  properties->l2CacheSize = 60 << 20;
  properties->sharedMemPerMultiprocessor = 228 << 10;
  properties->sharedMemPerBlockOptin = 227 << 10;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxThreadsPerBlock = 1024;
  const int block[] = {1024, 1024, 64};
  const int grid[] = {2147483647, 65535, 65535};
  std::copy_n(block, 3, properties->maxThreadsDim);
  std::copy_n(grid, 3, properties->maxGridSize);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return unsafe(); }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t code) {
  return code == cudaErrorStreamCaptureUnsupported ? "cudaErrorStreamCaptureUnsupported" : "another error";
}
const char* cudaGetErrorString(cudaError_t) { return "words of the runtime"; }
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult*) {
  return cudaErrorNotSupported;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = reinterpret_cast<cudaMemPool_t>(&fake_cuda::of_nothing);
  return unsafe();
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return unsafe(); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t, cudaMemPool_t, cudaStream_t) {
  *memory = &fake_cuda::of_nothing;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void*, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*) { return cudaErrorInvalidValue; }

// Used by trials at first uses, which this runtime does not support.
cudaError_t cudaMemGetInfo(size_t*, size_t*) { return cudaErrorNotSupported; }
cudaError_t cudaDeviceGetStreamPriorityRange(int*, int*) { return cudaErrorNotSupported; }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int) { return cudaErrorNotSupported; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(&fake_cuda::of_nothing);
  return unsafe();
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return unsafe(); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned) { return cudaErrorNotSupported; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaErrorNotSupported; }
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t) { return cudaErrorNotSupported; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaErrorNotSupported; }
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*) { return cudaErrorNotSupported; }

}  // extern "C"
