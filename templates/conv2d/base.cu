// conv2d, the plain kernel: one thread per output, every sample read from global memory. It knows nothing but
// the element type, so it serves every problem and is what the other templates are compared with.

// Launched with blocks of BLOCK_X x BLOCK_Y over the columns and rows; a grid whose y or z would exceed
// 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(conv2d_base)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                       int batch, int height, int width, int mask_height, int mask_width, int convolve) {
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  if (x >= width) return;
  // The window's first sample relative to the output. A convolution is a correlation with the mask turned by
  // half a turn, whose centre, where a side is even, lies one further on.
  const int left = convolve ? mask_width - 1 - mask_width / 2 : mask_width / 2;
  const int top = convolve ? mask_height - 1 - mask_height / 2 : mask_height / 2;
  const int first_column = max(0, left - x);
  const int last_column = min(mask_width, width + left - x);
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int y = blockIdx.y * BLOCK_Y + threadIdx.y; y < height; y += gridDim.y * BLOCK_Y) {
      const int first_row = max(0, top - y);
      const int last_row = min(mask_height, height + top - y);
      T sum = 0;
      for (int i = first_row; i < last_row; ++i) {
        const T* row = image + (static_cast<long long>(b) * height + (y - top + i)) * width + (x - left);
        const T* weights = mask + static_cast<long long>(convolve ? mask_height - 1 - i : i) * mask_width;
        for (int j = first_column; j < last_column; ++j) {
          sum += weights[convolve ? mask_width - 1 - j : j] * row[j];
        }
      }
      output[(static_cast<long long>(b) * height + y) * width + x] = sum;
    }
  }
}
