// Tries variants of a problem on memory of the library's own, and remembers how they did. Thread-safe; one
// problem is tried at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/plan_state.h"
#include "runtime/cache.h"
#include "runtime/rehearsal.h"

namespace tunesmith {

/// One that takes part: without an executable it could not be had.
struct Rival {
  std::string template_name, config;
  std::unique_ptr<Executable> executable;
};

class FirstUse {
 public:
  using MakeRehearsal = std::function<std::unique_ptr<Rehearsal>()>;
  FirstUse(const DeviceFacts& device, MakeRehearsal make_rehearsal, BinaryCache cache);

  /// What was tried in this process or an earlier one, the fastest first; empty: nothing.
  std::vector<TriedVariant> find(const Op& op, const std::string& problem);

  /// Of rivals in the order in which they promise most. Nothing happens where there is too little memory or
  /// the device refuses; it ends early if it is stopped.
  void try_out(const Op& op, const std::string& problem, const std::vector<Rival>& rivals,
               const std::stop_token& stop);

 private:
  using Key = std::pair<std::string, std::string>;
  std::string entry_of(const std::string& text) const;
  std::string text_of(const Op& op, const std::string& problem) const;

  const std::string device_;
  const MakeRehearsal make_rehearsal_;
  const BinaryCache cache_;
  std::mutex trying_;
  std::mutex mutex_;  // of what follows
  std::map<Key, std::vector<TriedVariant>> tried_;
};

/// Times of rivals that take turns, the fastest first; a later one must be faster by more than the clock's
/// noise. `arguments` are the rehearsal's.
std::vector<TriedVariant> rank(const std::vector<Rival>& rivals, Rehearsal& rehearsal,
                               const std::vector<void*>& arguments, const std::stop_token& stop);

/// So many elements as an op is tuned with: floating-point values in [-1, 1), integers in [-100, 100], or
/// [0, 200] for u8.
std::vector<std::byte> usual_values(DType dtype, std::size_t count);

}  // namespace tunesmith
