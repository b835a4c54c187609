// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <unistd.h>

#include <iostream>
#include <string>

#include "generator/printable.h"

namespace tunesmith {
namespace {

// The streams as they were before PrintableOutput.
std::streambuf* const plain_output = std::cout.rdbuf();
std::streambuf* const plain_error = std::cerr.rdbuf();

}  // namespace

int PrintableOutput::Buffer::sync() {
  const std::string text = printable(view());
  str("");
  const auto size = static_cast<std::streamsize>(text.size());
  return to_->sputn(text.data(), size) == size && to_->pubsync() == 0 ? 0 : -1;
}

PrintableOutput::PrintableOutput(std::ostream& out) : out_(out), before_(out.rdbuf()), buffer_(before_) {
  out.rdbuf(&buffer_);
}

PrintableOutput::~PrintableOutput() {
  out_.flush();
  out_.rdbuf(before_);
}

std::ostream& exact_output() {
  static std::ostream exact(plain_output);
  if (isatty(STDOUT_FILENO) != 0) return std::cout;
  std::cout.flush();
  return exact;
}

std::ostream& progress_output() {
  static std::ostream plain(plain_error);
  plain.tie(&std::cout);
  return plain;
}

}  // namespace tunesmith
