// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: their barrier, and writes to each other's shared memory. Needs compute capability 9.0.
// There is no host twin because blocks run one after the other on the host.
#pragma once

// Arrives at the cluster's barrier and releases the block's writes.
__device__ __forceinline__ void arrive_in_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
// Waits for all blocks of the cluster to have arrived.
__device__ __forceinline__ void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The address in the cluster's block `rank` that corresponds to `to` in this block's shared memory.
__device__ __forceinline__ unsigned address_in_block(const void* to, int rank) {
  unsigned address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "r"(rank));
  return address;
}
__device__ __forceinline__ void send_to_block(float* to, int rank, float value) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address_in_block(to, rank)), "f"(value) : "memory");
}
__device__ __forceinline__ void send_to_block(double* to, int rank, double value) {
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address_in_block(to, rank)), "d"(value) : "memory");
}
