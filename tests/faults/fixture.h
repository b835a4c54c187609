// SPDX-License-Identifier: Apache-2.0
// The parts that the fault tests share: their own database, quick options, and tuners in processes of their
// own.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/run/tune.h"

namespace tunesmith {

/// The value of $TUNESMITH_FAULTS_DEVICE, else the host.
std::string device_under_test();

class FaultTest : public testing::Test {
 public:
  /// The first child of `tuner` that was started as `worker ROLE`; 0 if there is none now.
  static pid_t worker_of(pid_t tuner, const std::string& role);

 protected:
  void SetUp() override;
  void TearDown() override;

  /// Options for the op `pairs`: exhaustive, few samples, short time-outs.
  TuneOptions options() const;
  TuneResult run(const TuneOptions& options) const;

  /// All measurements, including the older ones of a variant.
  std::vector<ResultRow> rows() const { return rows(folder_ / "tunesmith.db"); }
  static std::vector<ResultRow> rows(const std::filesystem::path& database);
  std::int64_t count_rows() const;  ///< 0 while there is no database
  /// Waits until there are `count` rows, or a minute is over.
  void wait_for_rows(std::int64_t count) const;

  /// Runs SQL on the database, as another program would.
  void execute(const char* sql) const;

  /// tune() in a process of its own, which ends with the CLI's exit codes.
  pid_t start(const TuneOptions& options) const;
  static int wait(pid_t process);  ///< as waitpid returns it
  std::filesystem::path folder_;
};

}  // namespace tunesmith
