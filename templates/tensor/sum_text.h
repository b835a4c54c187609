// SPDX-License-Identifier: Apache-2.0
// A sum of variables times numbers, as C++ text. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace tunesmith::tensor_op {

class SumText {
 public:
  explicit SumText(std::string begin = "") : text_(std::move(begin)) {}

  void add(const std::string& variable, std::int64_t factor = 1) {
    if (factor == 0) return;
    text_ += (text_.empty() ? "" : " + ") + variable + (factor == 1 ? "" : " * " + std::to_string(factor));
  }
  std::string text() const { return text_.empty() ? "0" : text_; }

 private:
  std::string text_;
};

}  // namespace tunesmith::tensor_op
