// SPDX-License-Identifier: Apache-2.0
// Output of the program. Names, reasons and texts may come from files that others wrote: none of them reaches
// a terminal as a command.
#pragma once

#include <ostream>
#include <sstream>
#include <streambuf>

namespace tunesmith {

/// Makes the stream's text printable (generator/printable.h) during the object's life. Construct it once for
/// each of std::cout and std::cerr, before anything is printed.
class PrintableOutput {
 public:
  explicit PrintableOutput(std::ostream& out);
  ~PrintableOutput();
  PrintableOutput(const PrintableOutput&) = delete;
  PrintableOutput& operator=(const PrintableOutput&) = delete;

 private:
  class Buffer : public std::stringbuf {
   public:
    explicit Buffer(std::streambuf* to) : to_(to) {}
    int sync() override;

   private:
    std::streambuf* to_;
  };
  std::ostream& out_;
  std::streambuf* before_;
  Buffer buffer_;
};

/// Standard output for text that programs read (CSV, JSON, SQL, source texts): every byte is unchanged,
/// unless it goes to a terminal.
std::ostream& exact_output();

/// Standard error for a progress bar, which is drawn with terminal commands.
std::ostream& progress_output();

}  // namespace tunesmith
