// SPDX-License-Identifier: Apache-2.0
// Pictures as planes of floats, read from and written to PNG files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// `channels` planes of height x width samples, row-major, from 0 to 1 at any bit depth. With 2 or 4 channels
/// the last one is opacity.
struct Picture {
  int channels = 1;   ///< 1 gray, 2 gray + opacity, 3 RGB, 4 RGB + opacity
  int bit_depth = 8;  ///< bits of the file: 8 or 16; files with fewer bits become 8
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<float> samples;
};

/// Both throw std::runtime_error with the reason.
Picture read_png(const std::string& path);
void write_png(const std::string& path, const Picture& picture);  ///< samples are clamped to 0 to 1

/// Rings, bars and a checkerboard in gray.
Picture test_card(std::size_t height, std::size_t width);
