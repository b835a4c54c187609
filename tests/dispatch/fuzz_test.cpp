// SPDX-License-Identifier: Apache-2.0
// Fuzzes databases, binaries, cache entries and texts: no crash, no hang, no wrong result; a mutated binary
// is never run. Each mutation has a process of its own. TUNESMITH_FUZZ_MUTATIONS is the number of mutations
// of each kind.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "choose/winners_file.h"
#include "dispatch/packed.h"
#include "fixture.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"
#include "tests/rounds.h"

namespace tunesmith {
namespace {

constexpr const char* problem = "n=1000 taps=5";
constexpr unsigned limit_s = 20;        // of processor time
constexpr unsigned wall_limit_s = 600;  // for a process that waits

enum Outcome : int {
  caught,    // an error, a note, or the file was not used
  harmless,  // the winner was used as it was stored, and its result is right
  wrong,
};

std::uint64_t mutations() { return fuzz_rounds(60); }

// Flips bits, writes runs of one byte, moves, drops or doubles pieces, and cuts ends.
std::string mutated(std::string bytes, Random& random) {
  const std::size_t at = random.below(bytes.size());
  const std::size_t size = std::min(1 + random.below(64), bytes.size() - at);
  switch (random.below(8)) {
    case 0:
      return bytes.substr(0, at);
    case 1:
      return bytes.erase(at, size);
    case 2:
      return bytes.insert(at, bytes.substr(random.below(bytes.size()), size));
    case 3:
      return bytes.replace(at, size, std::string(size, static_cast<char>(random.below(256))));
    case 4:
      return bytes.replace(at, size, bytes.substr(random.below(bytes.size() - size + 1), size));
    default:
      for (std::size_t flips = 1 + random.below(16); flips > 0; --flips)
        bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
      return bytes;
  }
}

class FuzzTest : public DispatcherTest {
 protected:
  void SetUp() override { tune({.problem = problem, .config = "VECTOR=4"}); }

  DispatcherOptions without_compiler() const {
    DispatcherOptions chosen = options();
    chosen.compile = Compile::never;
    return chosen;
  }

  // Plans, launches and compares with the reference.
  Outcome dispatched(const DispatcherOptions& chosen) const {
    Dispatcher dispatcher(chosen);
    const Plan plan = dispatcher.plan("smooth", problem);
    const Buffers buffers(find_op("smooth"), Problem::parse(plan.problem()), 0, 1);
    if (!plan.launch(buffers.arguments()).ok()) return caught;
    if (!buffers.why_wrong().empty()) return wrong;
    return plan.variant().template_name == "vector" ? harmless : caught;
  }

  // Calls `attempt` for each mutation, in a child process.
  void fuzz(const char* what, const std::function<Outcome(Random&)>& attempt, bool may_be_harmless = true) {
    std::array<int, 3> outcomes{};
    for (std::uint64_t seed = 1; seed <= mutations(); ++seed) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        const rlimit limit = {limit_s, limit_s + 1};
        ::setrlimit(RLIMIT_CPU, &limit);
        ::alarm(wall_limit_s);
        int outcome = caught;
        try {
          Random random(seed);
          outcome = attempt(random);
        } catch (const std::exception& error) {
          outcome = *error.what() == '\0' ? wrong : caught;
        }
        ::_exit(outcome);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status)) << what << ", seed " << seed << ": signal " << WTERMSIG(status);
      ASSERT_LT(WEXITSTATUS(status), 3) << what << ", seed " << seed;
      ++outcomes[static_cast<std::size_t>(WEXITSTATUS(status))];
      EXPECT_NE(WEXITSTATUS(status), wrong) << what << ", seed " << seed;
      EXPECT_TRUE(may_be_harmless || WEXITSTATUS(status) == caught) << what << ", seed " << seed;
    }
    std::cout << what << ": " << mutations() << " mutations, " << outcomes[caught] << " caught, "
              << outcomes[harmless] << " without effect\n";
  }
};

TEST_F(FuzzTest, Databases) {
  const std::string whole = read_file(database());
  fuzz("databases", [&](Random& random) {
    for (const char* beside : {"-wal", "-shm"}) std::filesystem::remove(database() + beside);
    write_file(database(), mutated(whole, random));
    return dispatched(without_compiler());
  });
}

TEST_F(FuzzTest, StoredBinaries) {
  const auto exchange = [&](const char* sql, const std::string* give) {
    sqlite3* handle = nullptr;
    sqlite3_stmt* statement = nullptr;
    std::string bytes;
    sqlite3_open(database().c_str(), &handle);
    sqlite3_prepare_v2(handle, sql, -1, &statement, nullptr);
    if (give != nullptr)
      sqlite3_bind_blob(statement, 1, give->data(), static_cast<int>(give->size()), SQLITE_TRANSIENT);
    if (sqlite3_step(statement) == SQLITE_ROW) {
      bytes.assign(static_cast<const char*>(sqlite3_column_blob(statement, 0)),
                   static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
    }
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return bytes;
  };
  const std::string whole = exchange("SELECT bytes FROM binary", nullptr);
  ASSERT_GT(whole.size(), 1000U);
  EXPECT_EQ(dispatched(without_compiler()), harmless) << "as it was stored it is used";
  fuzz(
      "stored binaries",
      [&](Random& random) {
        const std::string bytes = mutated(whole, random);
        if (bytes == whole) return caught;
        exchange("UPDATE binary SET bytes = ?", &bytes);
        return dispatched(without_compiler());
      },
      false);
}

TEST_F(FuzzTest, CachedBinaries) {
  DispatcherOptions chosen = options();
  chosen.database.clear();
  Dispatcher(chosen).plan("smooth", problem);
  const std::filesystem::path entry = std::filesystem::directory_iterator(chosen.cache_folder)->path();
  const std::string whole = read_file(entry);
  chosen.compile = Compile::never;
  Dispatcher(chosen).plan("smooth", problem);  // does not throw
  fuzz(
      "cached binaries",
      [&](Random& random) {
        const std::string bytes = mutated(whole, random);
        if (bytes == whole) return caught;
        write_file(entry, bytes);
        Dispatcher(chosen).plan("smooth", problem);  // throws: there is no other kernel
        return wrong;
      },
      false);
}

TEST_F(FuzzTest, DumpedDatabases) {
  std::ostringstream dumped;
  Store::open(database(), Store::Mode::read_only).write_text(dumped, Store::Blobs::include);
  const std::string whole = dumped.str();
  fuzz("dumped databases", [&](Random& random) {
    const std::filesystem::path path = folder_ / "loaded.db";
    std::istringstream text(mutated(whole, random));
    for (const char* part : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + part);
    Store::open(path, Store::Mode::create).read_text(text, Store::Blobs::include);
    DispatcherOptions chosen = without_compiler();
    chosen.database = path;
    return dispatched(chosen);
  });
}

TEST_F(FuzzTest, TablesOfWinners) {
  const DeviceFacts gpu = {.kind = DeviceKind::cuda,
                           .name = "A GPU",
                           .target = "sm_90a",
                           .compute_capability = 90,
                           .multiprocessors = 132,
                           .memory_bytes = 1};
  WinnersFileRow row;
  row.winner.device = gpu;
  row.winner.op = "smooth";
  row.winner.template_name = "vector";
  row.winner.problem = complete_problem(find_op("smooth"), Problem::parse(problem));
  row.winner.config = Values::parse("BLOCK=64 VECTOR=4");
  row.winner.median_us = 5;
  row.winner.source_hash = std::string(64, 'a');
  row.alignment_bytes = 16;
  row.toolchain = "NVRTC 13.0";
  row.driver = "580";
  row.measured_at = "2026-01-01T00:00:00.000Z";
  const Texts whole = write_winners({row});
  ASSERT_EQ(whole.size(), 2U);
  fuzz("tables of winners", [&](Random& random) {
    Texts texts = whole;
    auto chosen = texts.begin();
    if (random.below(2) == 1) ++chosen;
    chosen->second = mutated(chosen->second, random);
    const auto rows = read_winners([&](std::string_view name) {
      const auto found = texts.find(name);
      return found == texts.end() ? std::string() : found->second;
    });
    // Rows that can be read can be written.
    static_cast<void>(write_winners(rows));
    return rows.size() == 1 ? harmless : caught;
  });
}

}  // namespace
}  // namespace tunesmith
