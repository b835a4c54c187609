// SPDX-License-Identifier: Apache-2.0
// Converts structs to bytes and back between two processes of the same executable, so byte order and sizes
// are the machine's own. A struct that travels lists its fields once:
//   template <typename Self, typename Archive> static void fields(Self& self, Archive& archive) {
//   archive(self.a, self.b); }
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "generator/error.h"

namespace tunesmith {

class WireWriter {
 public:
  template <typename... Ts>
  void operator()(const Ts&... values) {
    (put(values), ...);
  }

  std::string bytes;

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      T::fields(value, *this);
    }
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes += text;
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint64_t>(list.size()));
    for (const T& entry : list) put(entry);
  }
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  template <typename... Ts>
  void operator()(Ts&... values) {
    (get(values), ...);
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size())
      throw Error("A message between tuner and worker is cut short; the two differ in version.");
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      std::memcpy(&value, take(sizeof value).data(), sizeof value);
    } else {
      T::fields(value, *this);
    }
  }
  void get(std::string& text) {
    std::uint64_t size = 0;
    get(size);
    text = take(size);
  }
  template <typename T>
  void get(std::vector<T>& list) {
    std::uint64_t size = 0;
    get(size);
    list.clear();
    for (std::uint64_t i = 0; i < size; ++i) get(list.emplace_back());
  }

  std::string_view rest_;
};

/// A message: its kind, and the bytes of the struct that belongs to it.
struct Frame {
  std::uint8_t kind = 0;
  std::string payload;
};

/// The message with its length before it, as it goes over the socket.
std::string to_bytes(const Frame& frame);

/// Assembles messages from the pieces that the socket delivers.
class FrameBuffer {
 public:
  void add(std::string_view piece) { bytes_ += piece; }
  /// Gives the next whole message, if it has arrived. Throws Error if the bytes cannot be messages.
  bool next(Frame& frame);
  bool empty() const { return bytes_.empty(); }

 private:
  std::string bytes_;
};

/// The descriptor on which a worker finds its socket.
inline constexpr int worker_descriptor = 3;

bool send_frame(int descriptor, const Frame& frame,
                double timeout_s);  ///< false: the other end does not read
bool receive_frame(int descriptor, FrameBuffer& buffer,
                   Frame& frame);  ///< blocks; false: the other end is gone

}  // namespace tunesmith
