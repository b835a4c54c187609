// SPDX-License-Identifier: Apache-2.0
// The tuner's side of a worker process: starts it, exchanges messages, notices its death, ends it. It does
// not know the meaning of the messages.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tuner/process/wire.h"

namespace tunesmith {

using Clock = std::chrono::steady_clock;

/// A running worker. It dies with this process, in whatever way that ends.
class Child {
 public:
  explicit Child(const std::string& role);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int descriptor() const { return socket_; }
  int process() const { return process_; }

  bool send(const Frame& frame);
  /// Returns a message that has arrived in full; never waits.
  std::optional<Frame> receive();
  /// True if the worker closed its end, and all its messages were received.
  bool gone() const { return gone_; }
  void say_goodbye();  ///< sends no more messages: the worker ends when it has finished its work
  void kill();
  /// "was ended by SIGSEGV (Segmentation fault)", with the last output of the worker. Waits for the worker's
  /// end, but not for ever.
  std::string end();
  /// The signal's short name, "SIGSEGV", or empty. Call it after end().
  const std::string& signal_name() const { return signal_name_; }

 private:
  int process_ = -1;
  int socket_ = -1;
  int words_ = -1;  // a file in memory for the worker's printed text
  bool gone_ = false;
  FrameBuffer buffer_;
  std::string end_;
  std::string signal_name_;
};

/// The end of the text that was printed into a file in memory, on one line.
std::string last_words(int file, std::size_t most_bytes);

/// Waits until one of the descriptors can be read, the time is over, or a signal arrives.
void wait_for(const std::vector<int>& descriptors, double seconds);

}  // namespace tunesmith
