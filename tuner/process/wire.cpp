// SPDX-License-Identifier: Apache-2.0
#include "tuner/process/wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

namespace tunesmith {
namespace {
// The length of the payload, then the kind.
constexpr std::size_t header_bytes = sizeof(std::uint32_t) + 1;
constexpr std::uint32_t largest_payload_bytes = 1u << 30;
}  // namespace

std::string to_bytes(const Frame& frame) {
  if (frame.payload.size() > largest_payload_bytes)
    throw Error("A message to the worker would be above 1 GiB.");
  const auto length = static_cast<std::uint32_t>(frame.payload.size());
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += static_cast<char>(frame.kind);
  return bytes + frame.payload;
}

bool FrameBuffer::next(Frame& frame) {
  if (bytes_.size() < header_bytes) return false;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes_.data(), sizeof length);
  if (length > largest_payload_bytes)
    throw Error("The worker's socket carries bytes that are not a message.");
  if (bytes_.size() < header_bytes + length) return false;
  frame.kind = static_cast<std::uint8_t>(bytes_[sizeof length]);
  frame.payload = bytes_.substr(header_bytes, length);
  bytes_.erase(0, header_bytes + length);
  return true;
}

bool send_frame(int descriptor, const Frame& frame, double timeout_s) {
  const std::string bytes = to_bytes(frame);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count =
        ::send(descriptor, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      pollfd wait{descriptor, POLLOUT, 0};
      ::poll(&wait, 1, 100);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool receive_frame(int descriptor, FrameBuffer& buffer, Frame& frame) {
  std::array<char, 65536> piece;
  while (!buffer.next(frame)) {
    const ssize_t count = ::recv(descriptor, piece.data(), piece.size(), 0);
    if (count == 0 || (count < 0 && errno != EINTR)) return false;
    if (count > 0) buffer.add({piece.data(), static_cast<std::size_t>(count)});
  }
  return true;
}

}  // namespace tunesmith
