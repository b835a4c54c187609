// SPDX-License-Identifier: Apache-2.0
// One device of a run, with its worker, compilers and session.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/run/problem_session.h"

namespace tunesmith {

/// A device of the run. Several work at the same time, each in its own thread. They share the file of the
/// database and the cache of binaries, and no memory.
class DeviceRun {
 public:
  struct Setup {
    const Op& op;
    const TuneOptions& options;
    std::filesystem::path database;
    std::string device;                            ///< as DeviceId reads it
    std::size_t device_runs;                       ///< number of the run's devices: they share the processors
    std::shared_ptr<SharedReferences> references;  ///< shared by all devices of the run
  };
  DeviceRun(const Setup& setup, Progress& progress);

  const DeviceFacts& device() const { return worker_.hello().device; }
  const std::string& id() const { return worker_.hello().identity; }
  const std::string& note() const { return worker_.hello().note; }
  const Recorder::Facts& facts() const { return facts_; }
  const std::string& uuid() const { return worker_.hello().uuid; }
  bool tells_energy() const { return worker_.hello().energy; }
  const std::vector<std::int32_t>& other_processes() const { return worker_.hello().other_processes; }
  std::vector<WinnerRow> winners() { return recorder().winners(); }
  std::vector<Store::TriedProblem> tried() { return recorder().tried(); }
  void put_anchor_table(AnchorTableRow row) { recorder().put_anchor_table(std::move(row)); }
  std::int64_t database_id() { return recorder().device(); }  ///< the device's

  void introduce();  ///< prints what is tuned for

  /// The devices of a run must be of one model, because a winner is a model's. Throws UsageError.
  void must_be_like(const DeviceRun& first) const;

  TunedProblem run(const ProblemTask& task);

  std::string binary_of(const RenderedVariant& variant);  ///< empty if it does not compile
  /// Returns 0 if it failed. Nothing is recorded.
  double median_us(const RenderedVariant& variant, const Problem& problem, const std::string& binary);

  void rest();  ///< it has no more tasks for now: others need not wait for the files that it has begun
  void add_spent(TuneResult& result);
  void finish();  ///< ends the session, if there was one

 private:
  Recorder& recorder();

  Setup setup_;
  Progress progress_;
  Store store_;
  References references_;
  DeviceWorker worker_;
  Compilers compilers_;
  Policy policy_;
  Recorder::Facts facts_;
  std::optional<Recorder> recorder_;
};

}  // namespace tunesmith
