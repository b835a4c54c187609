// Checks and times one variant on one device: is it right on the problem and its companions, and how fast.
// Runs in the worker process; knows nothing of search, database or other variants.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/toolchain.h"
#include "tuner/check_memory.h"
#include "tuner/device_memory.h"
#include "tuner/messages.h"
#include "tuner/watcher.h"

namespace tunesmith {

class Checker {
 public:
  /// Keeps copies of the parts on the device, for all variants that follow.
  Checker(Device& device, const Op& op, const std::vector<CheckPart>& parts);

  /// A variant that fails is an answer; Error is only for failures that no variant caused.
  MeasureReply judge(const MeasureRequest& request);

 private:
  struct Array {  // of one argument
    std::int64_t elements;
    DType dtype;
    Role role;
    DeviceMemory live;                                // what the kernel gets; on the host aligned as it asks
    std::optional<DeviceMemory> initial;              // of an input or inout
    std::optional<DeviceMemory> expected, permitted;  // of an output or inout
  };
  struct Prepared {
    Problem problem;
    int set = 0;  // of values

    std::vector<Array> arrays;
    std::vector<void*> pointers;
    bool reverse = false;    // the order of its next run
    bool repeatable = true;  // no inout: a second launch gives the same
    std::chrono::steady_clock::time_point launched = {};
    double launch_us = 0;  // of the newest checked launch, by the clock of the host
  };
  struct Failure {
    Verdict verdict;
    std::string reason;
  };

  Prepared prepare(const CheckPart& part);
  std::string where(const Prepared& on) const;
  static Poison poison(const Prepared& on) { return poison_of(on.reverse, on.set > 0); }
  void enter(MeasureReply& reply, double MeasureReply::*phase);
  void align(Prepared& on, std::int64_t bytes);
  void restore(Array& array);
  void restore_inputs(Prepared& on);
  void reset(Prepared& on, Poison poison);
  void* workspace(std::int64_t bytes);
  void prepare_workspace(void* space, const Work& work, Poison poison);
  bool zeroed_part_is_zero(const Work& work);
  std::optional<Failure> run(Prepared& on, Executable& executable, const Work& work, MeasureReply& reply);
  std::optional<Failure> run_behind(Prepared& on, Executable& executable, const Work& work,
                                    MeasureReply& reply);
  std::optional<Failure> after(Prepared& on, int error, Executable& executable, const Work& work,
                               MeasureReply& reply);
  Failure fault(const Prepared& on, const Work& work);
  std::optional<Failure> inspect(Prepared& on, const Work& work, MeasureReply& reply);
  std::optional<Failure> inspect_guards(Prepared& on, const Work& work, MeasureReply& reply);
  std::string written_beyond(Prepared& on, std::int64_t workspace_bytes);
  std::string cause(Prepared& on, Executable& executable, const Work& work, MeasureReply& reply);
  void clean_up(MeasureReply& reply, Failure& failure);
  BlockOrder block_order(bool reverse) const {
    return reverse && !blocks_wait_ ? BlockOrder::descending : BlockOrder::ascending;
  }
  bool serves(const Template& tmpl, const Config& config, const Prepared& companion,
              const Values& constants) const;
  std::optional<Failure> check_companions(const Template& tmpl, const Config& config,
                                          const Executable& loaded, MeasureReply& reply);
  std::optional<Failure> check_watched(const Template& tmpl, const Config& config, MeasureReply& reply);
  std::optional<Failure> run_watched(Prepared& on, const Template& tmpl, const Config& config,
                                     const Source& source, const std::string& binary,
                                     std::chrono::duration<double> limit, MeasureReply& reply);
  std::optional<Failure> check_large(const Template& tmpl, const Config& config, const Source& source,
                                     const std::string& binary);
  bool ends_in_reverse(Prepared& on, Executable& executable, const std::string& binary);
  std::optional<Failure> judge_asked(const Template& tmpl, const Config& config,
                                     const MeasureRequest& request, MeasureReply& reply);

  Device& device_;
  const Op& op_;
  bool host_;
  std::int64_t alignment_ = 256;  // of the live arrays
  Prepared asked_;
  std::vector<Prepared> companions_;
  std::unique_ptr<Toolchain> watched_toolchain_;  // of a described kernel on the host
  std::set<Watcher::Spot> overflows_;             // on small problems: they are meant
  bool blocks_wait_ = false;                      // for blocks with lower numbers: they run in order
  // By size, because guards must lie directly after it.
  std::map<std::int64_t, DeviceMemory> workspaces_;
  double MeasureReply::*phase_ = nullptr;  // what judge() is at
  std::chrono::steady_clock::time_point phase_began_;
};

/// "[3, 7]": where the element with that flat index stands in a row-major array.
std::string coordinates(std::int64_t index, const std::vector<std::int64_t>& extents);

}  // namespace tunesmith
