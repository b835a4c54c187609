// Processes that compile, as many as are wanted, each one source at a time. Processes and not threads: a
// compiler that hangs or crashes costs one variant, and NVRTC compiles more in 16 processes than in 16
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/render.h"
#include "tuner/child.h"
#include "tuner/messages.h"

namespace tunesmith {

struct CompileResult {
  std::int64_t ticket = 0;
  Verdict verdict = Verdict::ok;
  std::string reason;  ///< a sentence, then the compiler's words; empty when ok
  std::string binary;
  double milliseconds = 0;
};

class Compilers {
 public:
  /// Starts the first process and waits for its first word. Throws Error when there is no compiler.
  Compilers(const std::string& target, int processes, double timeout_s);
  ~Compilers();  ///< gives what is being compiled a moment to end and to remove its files
  Compilers(const Compilers&) = delete;
  Compilers& operator=(const Compilers&) = delete;

  const std::string& identity() const { return identity_; }  ///< of the toolchain

  bool has_room() const;  ///< for one more source
  int at_work() const;    ///< on what is wanted
  void begin(std::int64_t ticket, const Source& source);
  std::vector<CompileResult> update();  ///< what ended since the last call
  void drop_all();                      ///< what is being compiled is not wanted any more

  void descriptors(std::vector<int>& add_to) const;
  /// The earliest moment at which something takes too long; far away if nothing is at work.
  Clock::time_point deadline() const;

 private:
  struct Process {
    std::unique_ptr<Child> child;
    bool greeted = false;
    bool at_work = false;
    bool wanted = true;  // what it is at work on
    std::int64_t ticket = 0;
    Clock::time_point deadline;
  };
  void start(Process& process);
  void take(Process& process, const Frame& frame, std::vector<CompileResult>& results);

  std::string target_;
  double timeout_s_;
  std::string identity_;
  std::vector<Process> processes_;
};

}  // namespace tunesmith
