// SPDX-License-Identifier: Apache-2.0
// Fuzzes `replay`, `db import` and `db load` with mutated files: each file is read, or refused with a
// sentence; none crashes, and none takes long. TUNESMITH_FUZZ_MUTATIONS is the number of mutations of each
// kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cli/recordings.h"
#include "db/store.h"
#include "generator/error.h"
#include "tests/cli/run.h"
#include "tests/rounds.h"
#include "tests/source_folder.h"
#include "tuner/search/recorded.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double longest_s = 20;  // of processor time

std::uint64_t mutations() { return fuzz_rounds(300); }

// Mutates a text: bytes are changed, cut and repeated, and pieces are replaced by texts that readers often
// handle wrongly.
std::string mutated(std::string text, std::mt19937& random, const std::vector<std::string>& pieces) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t count = 1 + below(4); count > 0 && !text.empty(); --count) {
    const std::size_t at = below(text.size());
    const std::size_t size = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), size));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text.replace(at, size, pieces[below(pieces.size())]);
    }
  }
  return text;
}

// A recording that can be read must also be written, read again and replayed.
void read_and_use(const std::filesystem::path& path) {
  for (const Recording& recording : read_recordings(path)) {
    const RecordedSpace space(recording);
    EXPECT_LE(space.size(), recording.rows.size());
    Store store = Store::open(path.parent_path() / "t.db", Store::Mode::create);
    Recording named = recording;
    if (named.device.empty()) named.device = "Test GPU";
    EXPECT_LE(import_recording(store, named, "tunesmith db import"), recording.rows.size());
    for (const char* format : {"t4", "csv", "json"}) {
      const std::filesystem::path again =
          path.parent_path() / (std::string(format) == "csv" ? "again.csv" : "again.json");
      std::ofstream(again, std::ios::binary) << recording_text(recording, format);
      if (std::string(format) == "json") continue;  // JSON is for people
      EXPECT_EQ(read_recordings(again).front().rows.size(), recording.rows.size());
    }
  }
}

template <typename Read>
void try_mutations(const std::string& seed_text, const std::string& file,
                   const std::vector<std::string>& pieces, const Read& read) {
  const Scratch scratch;
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < mutations(); ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    const std::string text = mutated(seed_text, random, pieces);
    const std::filesystem::path path = scratch.path() / file;
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::remove(scratch.path() / "t.db");
    const std::clock_t start = std::clock();
    try {
      read(path, text);
      ++taken;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find_first_of(".;"), std::string::npos) << error.what();
      EXPECT_THAT(std::string(error.what()), Not(HasSubstr("json.exception"))) << error.what();
    } catch (const StoreError& error) {
      EXPECT_NE(std::string(error.what()).find_first_of(".;"), std::string::npos) << error.what();
    }
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, longest_s) << "mutation " << i;
    if (testing::Test::HasFailure()) {
      std::filesystem::copy_file(path, std::filesystem::temp_directory_path() / ("tunesmith_fuzz_" + file),
                                 std::filesystem::copy_options::overwrite_existing);
      FAIL() << "mutation " << i << " of " << file << " is kept in the temporary folder";
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, mutations());
}

const std::vector<std::string> json_pieces = {"null",
                                              "1e999",
                                              "-1",
                                              "[",
                                              "{",
                                              "]",
                                              "}",
                                              "\"\"",
                                              "\"a b=c\"",
                                              "1e308",
                                              "\"\\u001b[31m\"",
                                              "\"\\ud800\"",
                                              "true",
                                              "18446744073709551615",
                                              "[[[[[[[[[[[[[[[[[[[[[[[[",
                                              "\"correct\"",
                                              "\"time\"",
                                              ",",
                                              ":",
                                              "\"configuration\":",
                                              "\"results\":[",
                                              "\"cache\":{",
                                              "\"a\\nb\"",
                                              std::string(300, '['),
                                              "\"timeunit\":\"s\""};

TEST(ExchangeFuzz, T4Files) {
  try_mutations(read_text(source_folder + std::string("/tests/data/benchmark_hub/convolution_A6000_T4.json")),
                "x.json", json_pieces,
                [](const std::filesystem::path& path, const std::string&) { read_and_use(path); });
}

TEST(ExchangeFuzz, KernelTunersCaches) {
  try_mutations(
      read_text(source_folder + std::string("/tests/data/benchmark_hub/convolution_A6000_cache.json")),
      "x.json", json_pieces,
      [](const std::filesystem::path& path, const std::string&) { read_and_use(path); });
}

TEST(ExchangeFuzz, Tables) {
  const std::string table =
      "template,config,verdict,median_us,compile_ms,run_ms,reason\r\nt,A=1 B=flat,ok,1.5,3,4,\r\nt,A=2 "
      "B=flat,compile_error,,3,0,\"It does not compile:\n\"\"x\"\"\"\r\nu,\"A=2 "
      "B=\"\"a,b\"\"\",ok,1e-3,3,,\r\n";
  try_mutations(table, "x.csv",
                {"\"", "\"\"", ",", "\n", "\r\n", "nan", "inf", "-1", "ok", "crash", "A=1", "A=\"\"", "=",
                 " ", "1e999", "\xef\xbb\xbf", "A=1 A=1", "\x1b[31m"},
                [](const std::filesystem::path& path, const std::string&) { read_and_use(path); });
}

TEST(ExchangeFuzz, DatabasesAsText) {
  try_mutations(read_text(source_folder + std::string("/db/every_failure.sql")), "x.sql",
                {"NULL",
                 "'",
                 ";",
                 ";\n",
                 "--",
                 "1e999",
                 "9223372036854775807",
                 "-1",
                 "''",
                 "X'00'",
                 "COMMIT;\n",
                 "BEGIN;\n",
                 "zeroblob(1000000000)",
                 "(SELECT max(id) FROM measurement)",
                 "CREATE VIEW x AS SELECT 1;\n",
                 "'a b=c'",
                 "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c;\n",
                 "PRAGMA user_version = 1;\n",
                 "PRAGMA user_version = 3;\n",
                 "DROP TABLE variant;\n",
                 "AS (hex(zeroblob(99999999)))",
                 "CHECK (1 = 0)",
                 "UNIQUE",
                 "INSERT INTO problem VALUES(99,'a','n=1');\n",
                 "DELETE FROM device;\n",
                 "measurement",
                 "'ok'",
                 "'\x1b[31m'"},
                [](const std::filesystem::path& path, const std::string& text) {
                  std::istringstream in(text);
                  MergeSource source = MergeSource::text(in);
                  Store store = Store::open(path.parent_path() / "t.db", Store::Mode::create);
                  store.merge(std::move(source));
                  static_cast<void>(store.winners());
                  static_cast<void>(store.status());
                  for (const ResultRow& row : store.results()) EXPECT_FALSE(row.is_stale);
                  static_cast<void>(read_recordings(path.parent_path() / "t.db"));
                });
}

}  // namespace
}  // namespace tunesmith
