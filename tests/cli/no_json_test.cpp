// SPDX-License-Identifier: Apache-2.0
// Tests a program that was built without nlohmann-json or zlib: its complaints, and the files that it can
// still read and write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "cli/nvbench_text.h"
#include "cli/recordings.h"
#include "generator/error.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NoJson, TablesAreReadAndWritten) {
  const fs::path table = fs::path(testing::TempDir()) / "no_json.csv";
  write_file(table, "template,config,verdict,median_us,compile_ms\ntiled,A=1,ok,2.5,10\n");
  const std::vector<Recording> recordings = read_recordings(table);
  ASSERT_EQ(recordings.size(), 1u);
  ASSERT_EQ(recordings[0].rows.size(), 1u);
  EXPECT_EQ(recordings[0].rows[0].median_us, 2.5);
  EXPECT_FALSE(read_input_file(table).has_value());
  EXPECT_THAT(recording_text(recordings[0], "csv"), HasSubstr("tiled,A=1,ok,2.5,10"));
  EXPECT_THAT(refusal([&] { recording_text(recordings[0], "t4"); }),
              HasSubstr("The format t4 needs zlib, which was missing when this program was built."));
  EXPECT_THAT(refusal([&] { nvbench_text(recordings); }), HasSubstr("The format nvbench needs zlib"));
}

TEST(NoJson, ASentenceSaysWhatIsMissing) {
  for (const char* name : {"no_json.json", "no_json.json.gz", "no_json.csv.gz"}) {
    const fs::path file = fs::path(testing::TempDir()) / name;
    write_file(file, "{}");
    EXPECT_THAT(refusal([&] { read_recordings(file); }),
                HasSubstr("Reading " + file.string() + " needs zlib, which was missing"))
        << name;
  }
}

}  // namespace
}  // namespace tunesmith
