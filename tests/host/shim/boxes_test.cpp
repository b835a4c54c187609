// SPDX-License-Identifier: Apache-2.0
// Tests the host's copies of boxes through tensor maps (templates/common/boxes.cuh).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

constexpr int rows = 20, columns = 70, pitch = 72, box_rows = 8, box_columns = 64;

// The second warp's first thread brings the box that begins at column 16 and row 15; the first warp waits and
// copies it, and its first thread stores it at column 8 and row 14 of another array.
std::string kernel_with(const std::string& wait, const std::string& last_wait) {
  return R"(#include "common/boxes.cuh"
#include "common/swizzled_matrix.cuh"
extern "C" __global__ void ENTRY(kernel)(unsigned short* out, const __grid_constant__ TensorMap from,
                                         const __grid_constant__ TensorMap to) {
  DYNAMIC_SHARED(unsigned char, memory);
  unsigned short* const box = reinterpret_cast<unsigned short*>(memory);
  BoxBarrier* const filled = reinterpret_cast<BoxBarrier*>(memory + 1024);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    set(filled, 1);
    show_barriers();
  }
  __syncthreads();
  if (thread == 32) {
    const int place[2] = {16, 15};
    arrive_with(filled, 1024);
    copy_box(box, from, place, filled);
  }
  if (thread >= 32) return;
  )" + wait +
         R"(
  for (int at = thread; at < 512; at += 32) out[at] = box[at / 64 * 64 + (at % 64 / 8 ^ at / 64) * 8 + at % 8];
  show_to_products();
  sync<32>(1);
  if (thread == 0) {
    const int place[2] = {8, 14};
    store_box(to, place, box);
    end_box_group();
    )" + last_wait +
         R"(
  }
})";
}

BoxedArray boxes_of(int argument) {
  return {.array = ArgumentPointer{argument},
          .element_bytes = 2,
          .dimensions = {{columns, 1, box_columns}, {rows, pitch, box_rows}}};
}

struct Arrays {
  std::vector<std::uint16_t> box, from, to;
};
Arrays run(const std::string& wait, const std::string& last_wait) {
  Arrays arrays = {std::vector<std::uint16_t>(box_rows * box_columns, 7),
                   std::vector<std::uint16_t>(rows * pitch + 8),
                   std::vector<std::uint16_t>(rows * pitch + 8)};
  const auto aligned = [](std::vector<std::uint16_t>& all) {  // to 16 bytes
    return all.data() + (16 - reinterpret_cast<std::uintptr_t>(all.data()) % 16) % 16 / 2;
  };
  std::uint16_t* const from = aligned(arrays.from);
  for (int at = 0; at < rows * pitch; ++at) from[at] = static_cast<std::uint16_t>(at + 1);
  LoadedBinary kernel = load(kernel_with(wait, last_wait), {}, {64}, 1, 2048, {boxes_of(1), boxes_of(2)});
  std::uint16_t* const to = aligned(arrays.to);
  EXPECT_EQ(kernel.run({arrays.box.data(), from, to}), 0);
  arrays.from.assign(from, from + rows * pitch);
  arrays.to.assign(to, to + rows * pitch);
  return arrays;
}

const std::string wait = "wait_for(filled, 0);", last_wait = "wait_for_box_groups<0>();";

TEST(Boxes, HaveZerosBeyondTheArrayAndStoreNothingThere) {
  const Arrays arrays = run(wait, last_wait);
  std::vector<std::uint16_t> expected(arrays.to.size());
  for (int r = 0; r < box_rows; ++r) {
    for (int c = 0; c < box_columns; ++c) {
      const bool inside = 15 + r < rows && 16 + c < columns;
      const auto element =
          inside ? arrays.from[static_cast<std::size_t>((15 + r) * pitch + 16 + c)] : std::uint16_t{0};
      EXPECT_EQ(arrays.box[static_cast<std::size_t>(r * box_columns + c)], element) << r << " " << c;
      if (14 + r < rows && 8 + c < columns)
        expected[static_cast<std::size_t>((14 + r) * pitch + 8 + c)] = element;
    }
  }
  EXPECT_EQ(arrays.to, expected);
}

TEST(Boxes, AreThereOnlyForThreadsThatHaveWaited) {
  EXPECT_NE(run("", last_wait).box, run(wait, last_wait).box);
  EXPECT_EQ(run(wait, "").to, std::vector<std::uint16_t>(rows * pitch)) << "stored, but nobody has waited";
}

TEST(Boxes, WhoseBytesAreNotThoseAnnouncedNeverArrive) {
  std::string text = kernel_with(wait, last_wait);
  text.replace(text.find("1024);\n    copy_box"), 4, "2048");
  std::vector<std::uint16_t> box(box_rows * box_columns), array(rows * pitch + 8);
  std::uint16_t* const aligned =
      array.data() + (16 - reinterpret_cast<std::uintptr_t>(array.data()) % 16) % 16 / 2;
  LoadedBinary kernel = load(text, {}, {64}, 1, 2048, {boxes_of(1), boxes_of(2)});
  EXPECT_EQ(kernel.executable->describe(kernel.run({box.data(), aligned, aligned})),
            "threads of a block waited at a cuda::barrier or cuda::pipeline for others that never arrive");
}

// Pixels of the images of a layer: 2 images of 5 by 7 pixels of 64 channels, windows of 3 by 4 places that
// are 1 and 2 apart, and begin 2 before the image and 2 by 3 apart. The kernel copies a place of 24 windows,
// from the 9th on of 4 by 5 in an image: beyond the last one there are zeros.
TEST(Boxes, OfPixelsFollowTheWindows) {
  constexpr int channels = 64, width = 7, height = 5, images = 2, columns = 5, rows = 4, pixels = 24;
  const BoxedArray image = {.array = ArgumentPointer{1},
                            .element_bytes = 2,
                            .dimensions = {{channels, 1, channels},
                                           {width, channels, pixels, -2, columns, 2},
                                           {height, width * channels, 1, -1, rows, 3},
                                           {images, height * width * channels}}};
  for (const auto& [first_image, across, down] :
       {std::tuple(0, 0, 0), std::tuple(0, 3, 4), std::tuple(1, 1, 2)}) {
    const std::string text = R"(#include "common/boxes.cuh"
#include "common/swizzled_matrix.cuh"
extern "C" __global__ void ENTRY(kernel)(unsigned short* out, const __grid_constant__ TensorMap from) {
  DYNAMIC_SHARED(unsigned char, memory);
  unsigned short* const box = reinterpret_cast<unsigned short*>(memory);
  BoxBarrier* const filled = reinterpret_cast<BoxBarrier*>(memory + 3072);
  if (threadIdx.x == 0) {
    set(filled, 1);
    const int place[4] = {0, 4, 2, )" +
                             std::to_string(first_image) + "}, in_window[2] = {" + std::to_string(across) +
                             ", " + std::to_string(down) + R"(};
    arrive_with(filled, 3072);
    copy_pixels(box, from, place, in_window, filled);
    wait_for(filled, 0);
    for (int at = 0; at < 1536; ++at) out[at] = box[at / 64 * 64 + (at % 64 / 8 ^ at / 64 % 8) * 8 + at % 8];
  }
})";
    std::vector<std::uint16_t> box(pixels * channels, 7), array(images * height * width * channels + 8);
    std::uint16_t* const from =
        array.data() + (16 - reinterpret_cast<std::uintptr_t>(array.data()) % 16) % 16 / 2;
    for (int at = 0; at < images * height * width * channels; ++at)
      from[at] = static_cast<std::uint16_t>(at + 1);
    LoadedBinary kernel = load(text, {}, {32}, 1, 4096, {image});
    ASSERT_EQ(kernel.run({box.data(), from}), 0);
    for (int p = 0; p < pixels; ++p) {
      const int window = first_image * 20 + 8 + p, n = window / (columns * rows),
                y = window / columns % rows * 3 - 1 + down, x = window % columns * 2 - 2 + across;
      const bool inside = n < images && 0 <= y && y < height && 0 <= x && x < width;
      for (int c = 0; c < channels; ++c) {
        const int element = inside ? ((n * height + y) * width + x) * channels + c + 1 : 0;
        ASSERT_EQ(box[static_cast<std::size_t>(p * channels + c)], static_cast<std::uint16_t>(element))
            << p << " " << c << " " << first_image << " " << across << " " << down;
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith
