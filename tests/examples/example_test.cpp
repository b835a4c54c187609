// SPDX-License-Identifier: Apache-2.0
// Tests the example application: its pictures, its output, and its failures.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "picture.h"

namespace {

class ExampleTest : public testing::Test {
 protected:
  ExampleTest() {
    std::string name = (std::filesystem::temp_directory_path() / "example_test_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ExampleTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string file(const char* name) const { return (folder_ / name).string(); }

  // Runs the command in the test's folder, and keeps its output.
  int run(const std::string& command) {
    const std::string whole =
        "cd " + folder_.string() + " && XDG_CACHE_HOME=" + folder_.string() + " " + command + " 2>&1";
    std::FILE* pipe = popen(whole.c_str(), "r");
    printed_.clear();
    char part[256];
    while (std::fgets(part, sizeof part, pipe) != nullptr) printed_ += part;
    return WEXITSTATUS(pclose(pipe));
  }

  bool prints(const std::string& words) const { return printed_.find(words) != std::string::npos; }

  std::filesystem::path folder_;
  std::string printed_;
};

const std::string filter = std::string(FILTER_IMAGE) + " --device host --db '' ";

TEST_F(ExampleTest, PicturesSurviveTheFile) {
  for (const int channels : {1, 2, 3, 4}) {
    for (const int depth : {8, 16}) {
      Picture picture{.channels = channels, .bit_depth = depth, .height = 5, .width = 7, .samples = {}};
      const int most = depth == 8 ? 255 : 65535;
      for (int i = 0; i < channels * 35; ++i) {
        picture.samples.push_back(static_cast<float>(i * 7919 % (most + 1)) / static_cast<float>(most));
      }
      write_png(file("p.png"), picture);
      const Picture read = read_png(file("p.png"));
      EXPECT_EQ(read.channels, channels);
      EXPECT_EQ(read.bit_depth, depth);
      EXPECT_EQ(read.height, 5u);
      EXPECT_EQ(read.samples, picture.samples);
    }
  }
}

TEST_F(ExampleTest, FiltersTheTestCard) {
  ASSERT_EQ(run(filter), 0) << printed_;
  EXPECT_TRUE(prints("match:   ")) << printed_;
  EXPECT_TRUE(prints("variant: ")) << printed_;
  const Picture blurred = read_png(file("filtered.png"));
  EXPECT_EQ(blurred.width, 200u);
  EXPECT_NEAR(blurred.samples[190 * 200 + 100], 0.5, 0.02);  // the checkerboard's mean
  ASSERT_EQ(run(filter + "filtered.png again.png --mask box6"), 0) << printed_;
  EXPECT_EQ(read_png(file("again.png")).height, 200u);
}

TEST_F(ExampleTest, KeepsOpacityAndDepth) {
  Picture picture{.channels = 4, .bit_depth = 16, .height = 20, .width = 30, .samples = {}};
  picture.samples.assign(4 * 600, 0.5f);
  for (std::size_t i = 0; i < 600; ++i) picture.samples[3 * 600 + i] = static_cast<float>(i % 2);
  write_png(file("in.png"), picture);
  ASSERT_EQ(run(filter + "in.png out.png --mask gaussian5"), 0) << printed_;
  const Picture result = read_png(file("out.png"));
  EXPECT_EQ(result.channels, 4);
  EXPECT_EQ(result.bit_depth, 16);
  EXPECT_NEAR(result.samples[2 * 600 + 10 * 30 + 15], 0.5, 1e-4);
  EXPECT_LT(result.samples[0], 0.4);  // zero outside
  EXPECT_EQ(result.samples[3 * 600 + 1], 1.0f);
}

TEST_F(ExampleTest, FaultsAreSentences) {
  EXPECT_EQ(run(filter + "none.png out.png"), 1);
  EXPECT_TRUE(prints("none.png cannot be opened")) << printed_;
  std::ofstream(file("text.png")) << "not a picture";
  EXPECT_EQ(run(filter + "text.png out.png"), 1);
  EXPECT_TRUE(prints("is not a PNG file")) << printed_;
  EXPECT_EQ(run(filter + "--mask none"), 2);
  EXPECT_TRUE(prints("gaussian13")) << printed_;
  EXPECT_EQ(run(filter + "--device"), 2);
  EXPECT_EQ(run(filter + "--device tpu"), 1);
  EXPECT_TRUE(prints("allowed are auto")) << printed_;
}

TEST_F(ExampleTest, TheReadmesProgramRuns) {
  ASSERT_EQ(run(MINIMAL), 0) << printed_;
  EXPECT_TRUE(prints("in the middle 18, in the corner 8")) << printed_;
}

}  // namespace
