// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("The picture " + path + " " + why + ".");
}

File open(const std::string& path, const char* mode, const char* why) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) fail(path, why);
  return file;
}

// libpng reports errors by longjmp, so the functions that it jumps out of hold nothing that needs a
// destructor.
void on_error(png_structp png, png_const_charp message) {
  *static_cast<std::string*>(png_get_error_ptr(png)) = message;
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

struct Reader {
  std::string message;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct Writer {
  std::string message;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

bool read_header(png_structp png, png_infop info, std::FILE* file) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_init_io(png, file);
  png_read_info(png, info);
  png_set_expand(png);  // palettes to RGB, fewer bits to 8, a transparent colour to opacity
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  return true;
}

bool read_rows(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

bool write_rows(png_structp png, png_infop info, std::FILE* file, const Picture& picture, int color_type,
                png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_init_io(png, file);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               picture.bit_depth, color_type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, nullptr);
  return true;
}

std::vector<png_bytep> rows_of(std::vector<png_byte>& bytes, std::size_t height) {
  std::vector<png_bytep> rows(height);
  for (std::size_t y = 0; y < height; ++y) rows[y] = bytes.data() + y * (bytes.size() / height);
  return rows;
}

}  // namespace

Picture read_png(const std::string& path) {
  const File file = open(path, "rb", "cannot be opened; check its name");
  Reader reader;
  if (reader.info == nullptr) fail(path, "cannot be read: not enough memory");
  if (!read_header(reader.png, reader.info, file.get()))
    fail(path, "is not a PNG file that can be read: " + reader.message);
  Picture picture;
  picture.channels = png_get_channels(reader.png, reader.info);
  picture.bit_depth = png_get_bit_depth(reader.png, reader.info);
  picture.height = png_get_image_height(reader.png, reader.info);
  picture.width = png_get_image_width(reader.png, reader.info);
  std::vector<png_byte> bytes(png_get_rowbytes(reader.png, reader.info) * picture.height);
  std::vector<png_bytep> rows = rows_of(bytes, picture.height);
  if (!read_rows(reader.png, rows.data())) fail(path, "is damaged: " + reader.message);

  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::size_t pixels = picture.height * picture.width;
  picture.samples.resize(channels * pixels);
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t at = pixel * channels + c;
      const int value = picture.bit_depth == 16 ? 256 * bytes[2 * at] + bytes[2 * at + 1] : bytes[at];
      picture.samples[c * pixels + pixel] =
          static_cast<float>(value) / (picture.bit_depth == 16 ? 65535.0f : 255.0f);
    }
  }
  return picture;
}

void write_png(const std::string& path, const Picture& picture) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::size_t pixels = picture.height * picture.width;
  const bool wide = picture.bit_depth == 16;
  std::vector<png_byte> bytes(channels * pixels * (wide ? 2 : 1));
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::size_t c = 0; c < channels; ++c) {
      const float sample = std::clamp(picture.samples[c * pixels + pixel], 0.0f, 1.0f);
      const auto value = static_cast<unsigned>(std::lround(sample * (wide ? 65535.0f : 255.0f)));
      const std::size_t at = pixel * channels + c;
      if (wide) {
        bytes[2 * at] = static_cast<png_byte>(value / 256);
        bytes[2 * at + 1] = static_cast<png_byte>(value % 256);
      } else {
        bytes[at] = static_cast<png_byte>(value);
      }
    }
  }
  static constexpr int color_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                        PNG_COLOR_TYPE_RGB_ALPHA};
  File file = open(path, "wb", "cannot be written; check its folder");
  Writer writer;
  if (writer.info == nullptr) fail(path, "cannot be written: not enough memory");
  std::vector<png_bytep> rows = rows_of(bytes, picture.height);
  if (!write_rows(writer.png, writer.info, file.get(), picture, color_types[channels - 1], rows.data())) {
    fail(path, "cannot be written: " + writer.message);
  }
  if (std::fclose(file.release()) != 0) fail(path, "cannot be written; is the disk full?");
}

Picture test_card(std::size_t height, std::size_t width) {
  Picture card;
  card.height = height;
  card.width = width;
  card.samples.resize(height * width);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const double v = static_cast<double>(y) / static_cast<double>(height);
      const double u = static_cast<double>(x) / static_cast<double>(width);
      double value = 0;
      if (v < 0.2) {
        value = std::floor(u * 10) / 9;  // steps
      } else if (v > 0.8) {
        value = static_cast<double>((x / 4 + y / 4) % 2);  // a checkerboard
      } else {
        // Rings that get finer outwards.
        value = 0.5 + 0.5 * std::cos(700 * ((u - 0.5) * (u - 0.5) + (v - 0.5) * (v - 0.5)));
      }
      card.samples[y * width + x] = static_cast<float>(value);
    }
  }
  return card;
}
