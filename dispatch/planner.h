// From a problem to loaded kernels: select, then the best that can be had with the effort allowed.
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/first_use.h"
#include "dispatch/known.h"
#include "dispatch/modules.h"
#include "dispatch/plan_state.h"

namespace tunesmith {

class Planner {
 public:
  /// `ordinal` as cudaSetDevice counts; -1 for the host.
  Planner(DeviceFacts device, int ordinal, Known known, const DispatcherOptions& options);

  struct Effort {
    bool may_wait = false;      ///< for a compiler, where a better variant needs one
    bool twin_at_once = false;  ///< not only when it is asked for
    /// On this problem, the fastest first: it is taken, unless the problem was tuned since, something that
    /// was not tried promises most, or one of them is another kernel by now.
    std::vector<TriedVariant> tried = {};
    std::stop_token stop = {};
  };

  /// `problem` is complete. `coming` of the plan is set if with more effort there is a better one. Waits for
  /// a compiler, where it may be used at all, if not even the base is ready. Throws Error if there is no
  /// kernel.
  std::shared_ptr<PlanState> plan(const Op& op, const Problem& problem, const Effort& effort);

  /// The so many that promise most, each once, compiled if need be.
  std::vector<Rival> rivals(const Op& op, const Problem& problem, std::size_t count,
                            const std::stop_token& stop);

  /// Loads or compiles the twin of a plan and hands it to those who have the plan; if that fails for a while,
  /// the plan says when to try again.
  void make_twin(PlanState& state, const std::stop_token& stop);

  const DeviceFacts& device() const { return grounds_->device; }
  int ordinal() const { return ordinal_; }
  Modules& modules() { return modules_; }

 private:
  struct Made {
    std::shared_ptr<Module> module;
    Kernel kernel;  ///< without an executable: it could not be had
    std::string why_not;
    Clock::time_point try_again = never;  ///< of what did not compile
  };
  Made make(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
            const Choice* choice, Modules::Effort effort, const std::stop_token& stop);
  std::optional<std::size_t> place_of_tried(const Op& op, const Problem& problem, Choices& choices,
                                            const std::vector<TriedVariant>& tried);
  Made base(const Op& op, const Problem& problem, const std::stop_token& stop);
  void add_unaligned(PlanState& state, const Problem& problem, Choices& choices, const Effort& effort);
  Made find_twin(const PlanState& state, const Problem& problem, Choices& choices, Modules::Effort effort,
                 const std::stop_token& stop);
  std::string fault_of_base(const std::string& source_hash, const std::string& problem);
  const std::string& why_stale(const Op& op, std::size_t place);
  Modules::Effort most() const;

  std::shared_ptr<const Grounds> grounds_;
  int ordinal_;
  bool may_compile_, overlap_, check_pointers_;
  std::string database_;
  Modules modules_;
  std::mutex faults_mutex_;
  std::map<std::string, BaseFaults> faults_;  ///< by source: each is read from the database once
};

}  // namespace tunesmith
