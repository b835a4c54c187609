// A reference that the caller of the tuner brought: a program of theirs, in whatever language, that is asked
// for one output of one problem at a time (docs/your_own_kernel.md). What asks for it is not known here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

class ReferenceProgram {
 public:
  /// `words`: a command for the shell, which is started and asked on its standard input and output; or
  /// unix:PATH, a socket on which a program listens. Throws Error where it cannot be reached.
  explicit ReferenceProgram(const std::string& words);
  ~ReferenceProgram();
  ReferenceProgram(const ReferenceProgram&) = delete;
  ReferenceProgram& operator=(const ReferenceProgram&) = delete;

  /// A value for each element of the argument `output`. Throws Error with what the program said, or that it
  /// ended.
  std::vector<double> ask(const Op& op, const Problem& problem, std::span<const std::vector<double>> inputs,
                          int output);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_as_ended();
  void write(const void* bytes, std::size_t size);
  void read(void* bytes, std::size_t size);
  std::string read_line();

  std::string words_;
  int socket_ = -1;
  int process_ = -1;
  int errors_ = -1;  // a file in memory that takes what it prints
};

}  // namespace tunesmith
