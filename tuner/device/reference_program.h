// SPDX-License-Identifier: Apache-2.0
// A program of the tuner's caller, in any language: it is asked for one expected output of one problem at a
// time, or for input arrays (docs/your_own_kernel.md). It does not know who asks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "tuner/process/asked_program.h"

namespace tunesmith {

class ReferenceProgram {
 public:
  /// `words`: as of AskedProgram.
  explicit ReferenceProgram(const std::string& words);

  /// The argument `output` as a device holds it, each value rounded to its dtype. Throws Error with the
  /// program's message, with its end, or with the value that the dtype cannot hold.
  std::string ask(const Op& op, const Problem& problem, std::span<const std::vector<double>> inputs,
                  int output);

  /// Replaces `inputs` by the arrays that the program gives. Throws Error as ask() does.
  void take_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                   std::vector<std::vector<double>>& inputs);

 private:
  std::string read_array(const Argument& argument, const Problem& problem, bool integers_as_such);

  AskedProgram program_;
};

}  // namespace tunesmith
