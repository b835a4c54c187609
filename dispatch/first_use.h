// Tries variants of a problem on memory of the library's own, and remembers how they did. Thread-safe; one
// problem is tried at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/plan_state.h"
#include "runtime/process_mutex.h"
#include "runtime/rehearsal.h"

namespace tunesmith {

/// One that takes part: without an executable it could not be had.
struct Rival {
  std::string template_name, config, source_hash, made_by;  ///< as in TriedVariant
  std::unique_ptr<Executable> executable;
};

class FirstUse {
 public:
  using MakeRehearsal = std::function<std::unique_ptr<Rehearsal>()>;
  /// `known` are outcomes of earlier processes; the first on a problem counts.
  FirstUse(MakeRehearsal make_rehearsal, const std::vector<FirstUseOutcome>& known);

  /// What was tried in this process or an earlier one, the fastest first; empty: nothing.
  std::vector<TriedVariant> find(const Op& op, const std::string& problem);

  /// Of rivals in the order in which they promise most. Nothing happens where there is too little memory or
  /// the device refuses; it ends early if it is stopped.
  void try_out(const Op& op, const std::string& problem, const std::vector<Rival>& rivals,
               const std::stop_token& stop);

  /// Gives what was tried in this process to `write`, what it has not given before. If that throws, it is
  /// given again the next time.
  void write_new(const std::function<void(const std::vector<FirstUseOutcome>&)>& write);

 private:
  using Key = std::pair<std::string, std::string>;  ///< op and problem

  const MakeRehearsal make_rehearsal_;
  ProcessMutex trying_;
  std::mutex writing_;
  std::mutex mutex_;  // of what follows
  std::map<Key, std::vector<TriedVariant>> tried_;
  std::set<Key> here_;  ///< those of this process
  std::set<Key> new_;   ///< those of them that are not written
};

/// Times of rivals that take turns, the fastest first; a later one must be faster by more than the clock's
/// noise. `arguments` are the rehearsal's.
std::vector<TriedVariant> rank(const std::vector<Rival>& rivals, Rehearsal& rehearsal,
                               const std::vector<void*>& arguments, const std::stop_token& stop);

/// So many elements as an op is tuned with: usual_value(), or random bits where the dtype is no number.
std::vector<std::byte> usual_values(DType dtype, std::size_t count);

}  // namespace tunesmith
