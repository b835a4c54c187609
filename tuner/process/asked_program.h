// SPDX-License-Identifier: Apache-2.0
// A program of the tuner's caller, in any language, that answers questions line by line. It does not know
// what is asked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "generator/values.h"

namespace tunesmith {

class AskedProgram {
 public:
  /// `words`: a command for the shell, which is started and asked on its standard input and output; or
  /// unix:PATH, a socket on which a program listens. `role`: what it is, for messages, such as "reference".
  /// Throws Error if it cannot be reached.
  AskedProgram(const std::string& words, std::string_view role);
  ~AskedProgram();
  AskedProgram(const AskedProgram&) = delete;
  AskedProgram& operator=(const AskedProgram&) = delete;

  /// These throw Error with what the program printed, if it has ended.
  void write(const void* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void read(void* bytes, std::size_t size);
  std::string read_line();  ///< without its end

  /// Throws Error: "The ROLE WORDS `what`."
  [[noreturn]] void fail(const std::string& what) const;

 private:
  [[noreturn]] void fail_as_ended();

  std::string words_, role_;
  int socket_ = -1;
  int process_ = -1;
  int errors_ = -1;  // a file in memory for the program's error output
};

/// The text as a string of JSON; control characters become blanks.
std::string json_text(std::string_view text);
std::string json_of(const Value& value);

}  // namespace tunesmith
