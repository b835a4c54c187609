// conv1d, the plain kernel: one thread per output, a loop over the taps, all read from global memory. It
// knows nothing but the element type, so it serves every problem and is what the other templates are compared
// with.

// Launched with blocks of BLOCK_X threads over the outputs of a row; a grid whose y would exceed 65535, the
// limit, is walked in strides. The window of output i begins `left` samples before sample i.
extern "C" __global__ void __launch_bounds__(BLOCK_X)
    ENTRY(conv1d_base)(const T* __restrict__ signal, const T* __restrict__ kernel, T* __restrict__ output,
                       int batch, int convolve, long long length, long long taps, long long output_length,
                       long long left) {
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_X + threadIdx.x;
  if (i >= output_length) return;
  const long long first = max(0LL, left - i);
  const long long last = min(taps, length + left - i);
  for (long long b = blockIdx.y; b < batch; b += gridDim.y) {
    const T* samples = signal + b * length + (i - left);
    T sum = 0;
    for (long long j = first; j < last; ++j) {
      sum += kernel[convolve ? taps - 1 - j : j] * samples[j];
    }
    output[b * output_length + i] = sum;
  }
}
