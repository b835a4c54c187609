// SPDX-License-Identifier: Apache-2.0
// A program of the tuner's caller, in any language: it is asked for one expected output of one problem at a
// time, or for input arrays (docs/your_own_kernel.md). It does not know who asks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

class ReferenceProgram {
 public:
  /// `words`: a command for the shell, which is started and asked on its standard input and output; or
  /// unix:PATH, a socket on which a program listens. Throws Error if it cannot be reached.
  explicit ReferenceProgram(const std::string& words);
  ~ReferenceProgram();
  ReferenceProgram(const ReferenceProgram&) = delete;
  ReferenceProgram& operator=(const ReferenceProgram&) = delete;

  /// The argument `output` as a device holds it, each value rounded to its dtype. Throws Error with the
  /// program's message, with its end, or with the value that the dtype cannot hold.
  std::string ask(const Op& op, const Problem& problem, std::span<const std::vector<double>> inputs,
                  int output);

  /// Replaces `inputs` by the arrays that the program gives. Throws Error as ask() does.
  void take_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                   std::vector<std::vector<double>>& inputs);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_as_ended();
  void write(const void* bytes, std::size_t size);
  void read(void* bytes, std::size_t size);
  std::string read_line();
  std::string read_array(const Argument& argument, const Problem& problem, bool integers_as_such);

  std::string words_;
  int socket_ = -1;
  int process_ = -1;
  int errors_ = -1;  // a file in memory for the program's error output
};

}  // namespace tunesmith
