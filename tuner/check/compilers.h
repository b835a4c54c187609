// SPDX-License-Identifier: Apache-2.0
// Processes that compile, each one source at a time. They are not threads, because a compiler that hangs or
// crashes then costs only one variant, and NVRTC compiles more in 16 processes than in 16 threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/render.h"
#include "runtime/processor_time.h"
#include "tuner/check/messages.h"
#include "tuner/process/child.h"

namespace tunesmith {

struct CompileResult {
  std::int64_t ticket = 0;
  Verdict verdict = Verdict::ok;
  std::string reason;  ///< a sentence, then the compiler's output; empty when ok
  std::string binary;
  std::optional<double> milliseconds;  ///< none if an earlier run compiled it
};

class Compilers {
 public:
  /// Starts the first process and waits for its first message. Throws Error when there is no compiler.
  /// Binaries are kept in a folder of the toolchain in `cache_folder`; if that is empty they are not kept.
  Compilers(const std::string& target, int processes, double timeout_s,
            const std::filesystem::path& cache_folder);
  ~Compilers();  ///< gives running compilations a moment to end and to remove their files
  Compilers(const Compilers&) = delete;
  Compilers& operator=(const Compilers&) = delete;

  const std::string& identity() const { return identity_; }  ///< of the toolchain

  bool has_room() const;  ///< for one more source
  int at_work() const;    ///< running compilations whose results are wanted
  /// Begins a compilation. With a limit above 0 it may use no more processor time than that; the time-out of
  /// all compilations, of processor time too, applies in any case. A compilation of the same source whose
  /// result is not wanted goes on.
  void begin(std::int64_t ticket, const Source& source, double limit_s = 0);
  /// Compiles only into the cache folder, where begin() then finds the binary.
  void begin_ahead(const Source& source, double limit_s);
  std::vector<CompileResult> update();  ///< compilations that ended since the last call
  void drop_all();                      ///< drops the results of running compilations

  int processes() const { return static_cast<int>(processes_.size()); }
  double busy_s() const { return busy_s_; }  ///< of all processes together, so far

  void descriptors(std::vector<int>& add_to) const;
  /// The earliest moment at which a compilation takes too long; far away if none is running.
  Clock::time_point deadline() const;

 private:
  struct Process {
    std::unique_ptr<Child> child;
    bool greeted = false;
    bool at_work = false;
    bool wanted = true;  // the result of the running compilation
    std::int64_t ticket = 0;
    CompileRequest request;
    bool again = false;  // it is compiled again: a process has died of it before
    double limit_s = 0;
    Clock::time_point began;
    std::optional<ProcessorLimit> limit;  // of the running compilation; null: the process starts
    Clock::time_point deadline;           // of the start
    bool is_late();
    void limit_begins();
  };
  Process& give(const Source& source, double limit_s);
  Process* unwanted(const Source& source);  // the process that compiles it, but not for a ticket
  void start(Process& process);
  void take(Process& process, const Frame& frame, std::vector<CompileResult>& results);
  void send(Process& process);
  void rest(Process& process);

  std::string target_;
  double timeout_s_;
  std::string identity_;
  std::filesystem::path cache_folder_;
  std::vector<Process> processes_;
  double busy_s_ = 0;
};

}  // namespace tunesmith
