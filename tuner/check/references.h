// SPDX-License-Identifier: Apache-2.0
// Inputs and references of problems, made by a separate process while the device works: a wrong reference
// ends that process and not the tuner, and the next problem is ready when this one ends.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tuner/check/check_memory.h"
#include "tuner/check/messages.h"
#include "tuner/process/child.h"

namespace tunesmith {

/// Files of problems that the devices of a run share: the first device that wants a file makes it, the others
/// wait for it. Thread-safe.
class SharedReferences {
 public:
  struct SharedFile {
    bool is_mine = false;              ///< the caller makes it, until complete() or give_up()
    std::shared_ptr<MemoryFile> file;  ///< complete; null: another device makes it, or the caller does
  };
  SharedFile find(const ReferenceRequest& wanted);
  void complete(const ReferenceRequest& made, const std::shared_ptr<MemoryFile>& file);
  void give_up(const ReferenceRequest& wanted);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<MemoryFile>> files_;  // empty: it is being made
};

class References {
 public:
  explicit References(double timeout_s,
                      std::shared_ptr<SharedReferences> shared = std::make_shared<SharedReferences>())
      : timeout_s_(timeout_s), shared_(std::move(shared)) {}
  ~References();
  References(const References&) = delete;
  References& operator=(const References&) = delete;

  /// Sets the device on which kernels run that are references, as DeviceId::text(); by default the host.
  void run_on(const std::string& device) { device_ = device; }
  /// A ReferenceProgram's words; empty: the ops' own references.
  void ask(const std::string& program) { program_ = program; }
  /// The words of a program that gives input arrays; empty: the arrays are generated.
  void take_inputs_from(const std::string& program) { inputs_ = program; }

  /// Queues the problem's file after those that were wanted before. A file that is wanted again is kept.
  void want(const std::string& op, const std::string& problem, std::uint64_t seed);
  /// The path of the problem's file (CheckFile) once it is complete; empty before that.
  std::string ready(const std::string& problem, std::uint64_t seed) const;
  /// Forgets the complete files of other problems.
  void forget_others(const std::string& problem);

  /// Drops the files that are not complete, so that other devices need not wait for files that are not read
  /// here.
  void give_up();

  /// Reads messages, and replaces the process when it has died. Throws Error when a problem cannot be
  /// prepared.
  void update();
  int descriptor() const { return child_ ? child_->descriptor() : -1; }
  Clock::time_point deadline() const { return deadline_; }

 private:
  struct ReferenceJob {
    ReferenceRequest request;
    std::shared_ptr<MemoryFile> file = nullptr;  // null: another device makes it
    bool complete = false;
  };
  void look(ReferenceJob& job);
  ReferenceJob* pending();
  void go_on();

  double timeout_s_;
  std::shared_ptr<SharedReferences> shared_;
  std::string device_ = "host";
  std::string program_, inputs_;
  std::list<ReferenceJob> jobs_;
  std::unique_ptr<Child> child_;
  bool busy_ = false;
  Clock::time_point deadline_ = Clock::time_point::max();
  int failures_ = 0;  // in a row
};

}  // namespace tunesmith
