// SPDX-License-Identifier: Apache-2.0
// Tests a user's own kernel with a description, from the command line and in an application, on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/cli/run.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string examples = source_folder + std::string("/examples/user_kernels");

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// An example with some of its parts replaced. A test of faults gives its axes few values: each is a variant
// that is compiled twice and watched.
std::string example(const char* name,
                    std::initializer_list<std::pair<std::string_view, std::string_view>> replaced) {
  std::string text = read_text(examples + "/" + name + ".cu");
  for (const auto& [from, to] : replaced) {
    EXPECT_THAT(text, HasSubstr(from));
    if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

// The kernel y = 2 x in 20 lines; a test inserts parts of the kernel and of the description.
std::string twice(const std::string& body, const std::string& description = "") {
  return "/* tunesmith\nname = \"twice\"\nkernel = \"twice\"\n[problem]\nn = [1, 100000]\n[arrays]\nx = "
         "[\"n\"]\n"
         "y = { extents = [\"n\"], role = \"output\" }\n[axes]\nBLOCK = [64, 32]\nPART = [1, 2]\n"
         "[launch]\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n" +
         description +
         "*/\n__global__ void twice(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  " +
         body +
         "\n}\n__global__ void plain(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i] + x[i];\n}\n";
}

const std::string compared = "[reference]\nkernel = \"plain\"\n";
const std::string tune = "tune twice.cu --device host --problem n=1000 ";

class UserKernelTest : public testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(scratch.path() / "twice.cu") << text; }
  Scratch scratch;
};

TEST_F(UserKernelTest, IsTunedAndResumedAndExplained) {
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;", compared));
  const Outcome tuned = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("The reference of twice is the kernel plain of twice.cu."));
  EXPECT_THAT(tuned.out, HasSubstr("ok 4; 4 measured"));
  const Outcome again = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("3 known before")) << "all but the base\n" << again.out;

  const Outcome explained = scratch.tunesmith("explain twice.cu --device host --problem n=1000");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, Not(HasSubstr("It is launched as"))) << "it is one launch";
  EXPECT_THAT(explained.out, HasSubstr("match: exact"));
  const Outcome near = scratch.tunesmith("explain twice.cu --device host --problem n=900");
  EXPECT_THAT(near.out, HasSubstr("match: predicted"));
  EXPECT_THAT(near.out, HasSubstr("tunesmith tune twice.cu --problem"));
  for (const char* name : {"twice.cu", "twice"}) {
    const Outcome found = scratch.tunesmith(std::string("query --all ") + name);
    EXPECT_THAT(found.out, HasSubstr("BLOCK=32 PART=2")) << found.out << found.err;
  }
  const Outcome command =
      scratch.shell(TUNESMITH_PROGRAM " db dump | grep 'The reference of twice is the kernel plain'");
  EXPECT_EQ(command.exit_code, 0) << "the database says what it was compared with";
}

// Adds 14 axes of 10 values, some connected by rules: the space is too large to list.
TEST_F(UserKernelTest, ASpaceThatNobodyCanListIsSearched) {
  std::string axes;
  std::string sum = "0";
  for (int axis = 10; axis < 24; ++axis) {
    axes += "A" + std::to_string(axis) + " = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
    sum += " + A" + std::to_string(axis);
  }
  std::string text = twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] + 0 * (" + sum + ") : 0;", compared);
  text.insert(text.find("PART ="), axes);
  text.insert(text.find("[launch]"), "[rules]\nmust = [\"A10 + A23 == 9\", \"A11 + A22 > 3\"]\n");
  write(text);
  const Outcome space = scratch.tunesmith("space twice.cu --device host --problem n=1000");
  EXPECT_EQ(space.exit_code, 0) << space.err;
  EXPECT_THAT(space.out, HasSubstr("36000000000000 legal configs of 400000000000000"));
  EXPECT_THAT(space.out, HasSubstr("about 3.6e13 of them launch"));
  const Outcome tuned = scratch.tunesmith(tune + "--budget 2");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("too many to list: the search begins with 200000 random ones"));
  EXPECT_THAT(tuned.out, HasSubstr("36000000000000 variants in the space"));
  const Outcome all = scratch.tunesmith("render twice.cu --target host --all -o out --problem n=1000");
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_THAT(all.err, HasSubstr("36000000000000 legal configs"));
}

TEST_F(UserKernelTest, HasATableAndIsNotExported) {
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;", compared));
  const Outcome tuned =
      scratch.tunesmith("table make twice.cu --device host --searched 2 --measured 1 --budget 2");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_EQ(scratch.tunesmith(tune + "--budget 2").exit_code, 0);
  EXPECT_EQ(
      scratch
          .tunesmith(
              "tune conv2d --device host --budget 2 --problem 'height=9 width=9 mask_height=3 mask_width=3'")
          .exit_code,
      0);
  const Outcome exported = scratch.tunesmith("export --device host --to generated");
  EXPECT_TRUE(has(exported.out + exported.err, "There is no op twice") || has(exported.out, "Left out"))
      << exported.out << exported.err;
  const Outcome library = scratch.tunesmith("export --static --device host --to library");
  EXPECT_EQ(library.exit_code, 0) << library.err;
  EXPECT_THAT(library.out, HasSubstr("Left out the table of twice"));
  write(twice("if (i < n) y[i] = PART > 1 ? 3 * x[i] : 2 * x[i];", compared));
  const Outcome wrong = scratch.tunesmith("table make twice.cu --device host --searched 1 --budget all");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_THAT(wrong.out, HasSubstr("variants on 1 problem gave a wrong result or left an array"));
}

TEST_F(UserKernelTest, IsComparedWithAProgramOfTheCallers) {
  const auto asked = [](const std::string& what) {
    return tune + "--budget all --reference '" TUNESMITH_REFERENCE " " + what + "'";
  };
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;", compared));  // its place is taken
  const Outcome right = scratch.tunesmith(asked("right"));
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_THAT(right.err, HasSubstr("The reference of twice is " TUNESMITH_REFERENCE " right."));
  EXPECT_THAT(right.out, HasSubstr("ok 4; 4 measured"));
  EXPECT_EQ(
      scratch.shell(TUNESMITH_PROGRAM " db dump | grep 'The reference of twice is .*reference_program right'")
          .exit_code,
      0);
  const Outcome again = scratch.tunesmith(asked("right"));
  EXPECT_THAT(again.out, HasSubstr("3 known before"));
  const Outcome described = scratch.tunesmith(tune + "--budget all");
  EXPECT_THAT(described.out, HasSubstr("ok 4; 4 measured")) << "by another reference\n" << described.out;
  const Outcome wrong = scratch.tunesmith(asked("wrong"));
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("wrong_result")) << wrong.out << wrong.err;
  const Outcome checked = scratch.tunesmith(
      "check twice.cu --device host --problem n=100 --random 0 --reference '" TUNESMITH_REFERENCE " wrong'");
  EXPECT_EQ(checked.exit_code, 1) << checked.out;
  for (const auto& [what, says] : std::initializer_list<std::pair<const char*, const char*>>{
           {"refuse", "failed on n=1000 dtype=f32: n is odd here."},
           {"end", "ended without an answer; it printed: no module named y."},
           {"endless", "answered with a line of more than 4000 characters."}}) {
    const Outcome failed = scratch.tunesmith(asked(what) + " --db failed.db");
    EXPECT_EQ(failed.exit_code, 1) << what << failed.out;
    EXPECT_THAT(failed.err, HasSubstr(says)) << what << '\n' << failed.err;
  }
  const Outcome nobody = scratch.tunesmith(tune + "--reference unix:nobody --db failed.db");
  EXPECT_THAT(nobody.err, HasSubstr("unix:nobody cannot be reached: No such file or directory."));
  const Outcome built_in =
      scratch.tunesmith("tune transpose --device host --problem 'height=3 width=4' --reference cat");
  EXPECT_EQ(built_in.exit_code, 2);
  EXPECT_THAT(built_in.err, HasSubstr("transpose has its reference built in."));
}

// Tests the output of `export twice.cu` in an application without a database and a compiler.
class ShippedKernel : public UserKernelTest {
 protected:
  // The base never wins, so that it is available when the winner is not.
  explicit ShippedKernel(const char* host_name = "") {
    setenv("TUNESMITH_HOST_NAME", host_name, 1);
    write(
        twice("for (volatile int r = BLOCK == 64 ? 50 : 1; i < n && r > 0; r = r - 1) y[i] = PART > 0 ? 2 * "
              "x[i] : 0;",
              compared));
    expect_success(scratch.tunesmith(tune + "--budget all"));
    const Outcome exported = scratch.shell("umask 0; " TUNESMITH_PROGRAM " export twice.cu --to app/kernels");
    expect_success(exported);
    EXPECT_THAT(exported.out, HasSubstr("1 winner, 0 tables and "));
    EXPECT_THAT(exported.out, HasSubstr(" for host, with the kernel app/kernels/twice.cu"));
    std::filesystem::remove(scratch.path() / "twice.cu");
    std::filesystem::remove(scratch.path() / "tunesmith.db");
  }
  ~ShippedKernel() override { unsetenv("TUNESMITH_HOST_NAME"); }
  static void expect_success(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
  std::filesystem::path kernels() const { return scratch.path() / "app" / "kernels"; }
  std::filesystem::path tuned() const { return kernels() / "twice.tuned"; }
  Outcome run(const std::string& n, const std::string& more = "") const {
    return scratch.shell("PATH=/nowhere TUNESMITH_CXX=/nowhere/c++ " TUNESMITH_SHIPPED_KERNEL
                         " app/kernels/twice.cu " +
                         n + more);
  }
  // The binary of the winner, which is the variant named in the device's table.
  std::filesystem::path winners_binary() const {
    std::string tables;
    for (const auto& entry : std::filesystem::directory_iterator(tuned()))
      if (entry.path().extension() == ".csv" && entry.path().stem() != "files")
        tables += read_text(entry.path());
    for (const auto& entry : std::filesystem::directory_iterator(tuned() / "host"))
      if (has(tables, entry.path().filename())) return entry.path();
    ADD_FAILURE() << "no binary of the winner";
    return {};
  }
  static void change(const std::filesystem::path& file, std::size_t at, const std::string& with) {
    std::string bytes = read_text(file);
    bytes.replace(at, with.size(), with);
    std::ofstream(file, std::ios::binary) << bytes;
  }
};

TEST_F(ShippedKernel, AnswersWithoutADatabaseAndACompiler) {
  const Outcome exact = run("1000");
  expect_success(exact);
  EXPECT_THAT(exact.out, HasSubstr("match: exact, "));
  EXPECT_THAT(exact.out, HasSubstr("its binary was exported with the kernel"));
  EXPECT_THAT(exact.out, HasSubstr("twice.tuned has 1 winner and "));
  const Outcome near = run("900");
  expect_success(near);
  EXPECT_THAT(near.out, HasSubstr("match: predicted, "));
  // Native code is run in the process only if that is asked for.
  const Outcome refused = run("1000", " host_binaries=off");
  EXPECT_EQ(refused.exit_code, 3) << refused.out;
  EXPECT_THAT(refused.out, HasSubstr("host_binaries is off"));
  // The explanation for people.
  const Outcome explained = scratch.shell("TUNESMITH_DB=off " TUNESMITH_PROGRAM
                                          " explain app/kernels/twice.cu --device host --problem n=1000");
  expect_success(explained);
  EXPECT_THAT(explained.out, HasSubstr("match: exact"));
  EXPECT_THAT(explained.out, HasSubstr("(exported, "));
}

TEST_F(ShippedKernel, MayBeMovedButNotChanged) {
  std::filesystem::rename(kernels(), scratch.path() / "elsewhere");
  std::filesystem::create_directory(scratch.path() / "app" / "more");
  std::filesystem::rename(scratch.path() / "elsewhere", kernels());
  expect_success(run("1000"));
  std::ofstream(kernels() / "twice.cu", std::ios::app) << "// changed\n";
  const Outcome changed = run("1000");
  EXPECT_EQ(changed.exit_code, 3) << changed.out;
  EXPECT_THAT(changed.out,
              HasSubstr("The winners and binaries in app/kernels/twice.tuned are not used. The file "
                        "app/kernels/twice.cu has changed since. Export app/kernels/twice.cu again."));
  EXPECT_THAT(changed.out, Not(HasSubstr("match: ")));
}

TEST_F(ShippedKernel, AChangedBinaryIsNotLoaded) {
  change(winners_binary(), 100, "\x01\x02\x03");
  const Outcome changed = run("1000");
  expect_success(changed);  // the base is right
  EXPECT_THAT(changed.out, HasSubstr("A binary is not used. The file app/kernels/twice.tuned/host/"));
  EXPECT_THAT(changed.out, HasSubstr("is missing or damaged, its hash is not the one in files.csv."));
  EXPECT_THAT(changed.out, HasSubstr("match: base, "));
  EXPECT_THAT(changed.out, HasSubstr("No binary is stored for it"));
  // Another kernel's binary is stored under the winner's name, undamaged.
  for (const auto& entry : std::filesystem::directory_iterator(tuned() / "host")) {
    if (entry.path() == winners_binary()) continue;
    std::filesystem::copy_file(entry.path(), winners_binary(),
                               std::filesystem::copy_options::overwrite_existing);
    break;
  }
  EXPECT_THAT(run("1000").out, HasSubstr("match: base, "));
  std::filesystem::remove(winners_binary());
  std::filesystem::create_directory(tuned() / "host");
  EXPECT_THAT(run("1000").out, HasSubstr("match: base, "));
}

// The device may have any name: the list is ordered by the names of the files.
class ShippedFromAnyDevice : public ShippedKernel, public testing::WithParamInterface<const char*> {
 protected:
  ShippedFromAnyDevice() : ShippedKernel(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Names, ShippedFromAnyDevice,
                         testing::Values("0", "zzz", "  a  processor, \"quoted\"  ", "Prozeßör Ωμέγα"));

TEST_P(ShippedFromAnyDevice, AListThatWasCutIsNotUsed) {
  expect_success(run("1000"));
  const std::filesystem::path list = tuned() / "files.csv";
  const std::string right = read_text(list);
  std::size_t cuts = 0;
  const auto refused = [&](const std::string& text, const char* why) {
    std::ofstream(list, std::ios::binary) << text;
    const Outcome outcome = run("1000");
    EXPECT_EQ(outcome.exit_code, 3) << text << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("files.csv is not what an export wrote")) << why << '\n'
                                                                                 << outcome.out;
  };
  for (std::size_t end = right.find('\n'); end + 1 < right.size(); end = right.find('\n', end + 1)) {
    ++cuts;
    refused(right.substr(0, end + 1), "cut behind a line");
    refused(right.substr(0, end), "cut at a line's end");
  }
  EXPECT_GT(cuts, 4u);
  const std::size_t second = right.find('\n') + 1;
  refused(right.substr(0, second) + right.substr(right.find('\n', second) + 1), "without a line");
}

TEST_F(ShippedKernel, AWrongListOrTableIsNotUsed) {
  const std::filesystem::path list = tuned() / "files.csv";
  const std::string right = read_text(list);
  const auto refused = [&](const std::string& text, const char* why) {
    std::ofstream(list, std::ios::binary) << text;
    const Outcome outcome = run("1000");
    EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("are not used. "));
    EXPECT_THAT(outcome.out, HasSubstr(why));
  };
  refused("", "is not what an export wrote");
  refused("nonsense", "is not what an export wrote");
  refused(right + "one field\n", "is not what an export wrote");
  refused(right.substr(0, right.find("twice.tuned/")), "is not what an export wrote");
  refused(right.substr(0, right.find("twice.tuned/host")), "is not what an export wrote");
  const std::string name = winners_binary().filename();
  std::string other_hash = right;
  char& digit = other_hash[right.find(name + ",") + name.size() + 1];
  digit = digit == '0' ? '1' : '0';
  refused(other_hash, "is not what an export wrote");
  std::filesystem::remove(list);
  EXPECT_EQ(run("1000").exit_code, 3);
  std::ofstream(list, std::ios::binary) << right;
  expect_success(run("1000"));
  for (const auto& entry : std::filesystem::directory_iterator(tuned())) {
    if (entry.path().extension() != ".csv" || entry.path() == list) continue;
    const std::string text = read_text(entry.path());
    change(entry.path(), text.size() - 2, text[text.size() - 2] == '0' ? "1" : "0");
    const Outcome outcome = run("1000");
    EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("is missing or damaged"));
    std::ofstream(entry.path(), std::ios::binary) << text;
  }
  expect_success(run("1000"));
}

TEST_F(ShippedKernel, WhatOthersMayWriteIsNotUsed) {
  const auto all = std::filesystem::perms::group_write;
  for (const std::filesystem::path& path : {tuned(), tuned() / "files.csv"}) {
    std::filesystem::permissions(path, all, std::filesystem::perm_options::add);
    const Outcome outcome = run("1000");
    EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("can be written by others"));
    std::filesystem::permissions(path, all, std::filesystem::perm_options::remove);
  }
  for (const std::filesystem::path& path : {tuned() / "host", winners_binary()}) {
    std::filesystem::permissions(path, all, std::filesystem::perm_options::add);
    EXPECT_THAT(run("1000").out, Not(HasSubstr("match: exact"))) << path;
    std::filesystem::permissions(path, all, std::filesystem::perm_options::remove);
  }
  EXPECT_THAT(run("1000").out, HasSubstr("match: exact"));
}

TEST_F(UserKernelTest, IsExportedWithAllItsFilesAndATable) {
  const std::string text = twice("if (i < n) y[i] = doubled(x[i]) * PART / PART;", compared);
  const std::size_t begin = std::string("/* tunesmith").size();
  const std::size_t end = text.find("*/");
  std::ofstream(scratch.path() / "twice.toml") << text.substr(begin, end - begin);
  std::filesystem::create_directory(scratch.path() / "parts");
  std::ofstream(scratch.path() / "parts" / "helper.cuh")
      << "__device__ float doubled(float x) { return 2 * x; }\n";
  write("#include \"parts/helper.cuh\"\n" + text.substr(end + 2));
  EXPECT_EQ(
      scratch.tunesmith("table make twice.cu --device host --searched 2 --measured 1 --budget 2").exit_code,
      0);
  const Outcome table = scratch.tunesmith("export twice.cu --to app");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("0 winners, 1 table and "));
  EXPECT_EQ(scratch.tunesmith(tune + "--budget 2").exit_code, 0);
  for (const char* folder : {"app", "."}) {  // once more, and in the folder of the kernel
    const Outcome exported = scratch.tunesmith(std::string("export twice.cu --to ") + folder);
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_THAT(exported.out, HasSubstr("1 winner, 1 table and "));
    const Outcome ran =
        scratch.shell(std::string("PATH=/nowhere TUNESMITH_CXX=/nowhere/c++ " TUNESMITH_SHIPPED_KERNEL " ") +
                      folder + "/twice.cu 1000");
    EXPECT_EQ(ran.exit_code, 0) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("match: exact, "));
    const Outcome near =
        scratch.shell(std::string("PATH=/nowhere TUNESMITH_CXX=/nowhere/c++ " TUNESMITH_SHIPPED_KERNEL " ") +
                      folder + "/twice.cu 70000");
    EXPECT_THAT(near.out, HasSubstr("match: predicted, "));
  }
  std::ofstream(scratch.path() / "app" / "parts" / "helper.cuh")
      << "__device__ float doubled(float x) { return 3 * x; }\n";
  EXPECT_EQ(
      scratch.shell("PATH=/nowhere TUNESMITH_CXX=/nowhere/c++ " TUNESMITH_SHIPPED_KERNEL " app/twice.cu 1000")
          .exit_code,
      3);
}

TEST_F(UserKernelTest, ExportsThatCannotBeAreSentences) {
  const auto refused = [&](const std::string& arguments, const std::string& why) {
    const Outcome outcome = scratch.tunesmith("export " + arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(why));
  };
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;", compared));
  refused("twice.cu --to app", "There is no database");
  EXPECT_EQ(
      scratch.tunesmith("tune transpose --device host --budget 2 --problem 'height=9 width=9'").exit_code, 0);
  refused("twice.cu --to app", "has no winner of twice to export");
  refused("transpose --to app", "transpose is an op of Tunesmith's own");
  EXPECT_EQ(scratch.tunesmith(tune + "--budget 2").exit_code, 0);
  refused("twice.cu --static --to app", "has no --static export");
  std::filesystem::create_directories(scratch.path() / "app" / "twice.tuned");
  refused("twice.cu --to app", "was not written by an export");
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "app" / "twice.cu"));
  std::filesystem::remove_all(scratch.path() / "app");
  std::filesystem::create_directory(scratch.path() / "app");
  std::ofstream(scratch.path() / "app" / "twice.toml") << "x = 1\n";
  refused("twice.cu --to app", "would stand for the description");
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] + 0 : 0;", compared));
  refused("twice.cu --to other", "has changed since it was tuned");
}

// A kernel with one thread for each element of y, and its reference: takes the bodies, a type and more of the
// description.
std::string of_type(const std::string& type, const std::string& body, const std::string& plain,
                    const std::string& arrays = "x = [\"n\"]\n") {
  const std::string head = "(const float* x, " + type +
                           "* y, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) ";
  return "/* tunesmith\nname = \"twice\"\nkernel = \"twice\"\n[problem]\nn = [1, 300]\n[arrays]\n" + arrays +
         "y = { extents = [\"n\"], role = \"output\" }\n[axes]\nBLOCK = [64]\n[launch]\ngrid = "
         "\"ceil_div(n, BLOCK)\"\n"
         "block = \"BLOCK\"\n" +
         compared + "*/\n__global__ void twice" + head + body + " }\n__global__ void plain" + head + plain +
         " }\n";
}
const std::string check = "check twice.cu --device host --random 0 --problem n=100";

// Each type with a wrong answer that the comparison in another type would accept.
TEST_F(UserKernelTest, IsComparedInTheTypeOfItsPointers) {
  struct Case {
    const char *type, *right, *wrong, *says;
  };
  for (const Case& one :
       {Case{"unsigned", "300000 + i", "300001 + i", "y[0] is 300001, expected 300000 within 0"},
        Case{"unsigned long long", "(1ull << 63) + i", "(1ull << 63) + i + 1",
             "y[0] is 9223372036854775809, expected 9223372036854775808 within 0"},
        Case{"long long", "-(1ll << 60) - i", "-(1ll << 60) - i - 1",
             "y[0] is -1152921504606846977, expected -1152921504606846976 within 0"},
        Case{"short", "300 + i", "301 + i", "y[0] is 301, expected 300 within 0"},
        Case{"bool", "i % 2 == 0", "i % 2 == 1", "y[0] is 0, expected 1 within 0"},
        Case{"signed char", "-i / 4", "-i / 4 - 1", "y[0] is -1, expected 0 within 0"},
        Case{"unsigned short", "i * 200", "i * 200 + 1", "y[0] is 1, expected 0 within 0"}}) {
    const std::string set = "y[i] = ";
    write(of_type(one.type, set + one.right + ";", set + one.right + ";"));
    const Outcome right = scratch.tunesmith(check);
    EXPECT_EQ(right.exit_code, 0) << one.type << right.out << right.err;
    write(of_type(one.type, set + one.wrong + ";", set + one.right + ";"));
    const Outcome wrong = scratch.tunesmith(check);
    EXPECT_EQ(wrong.exit_code, 1) << one.type << wrong.out << wrong.err;
    EXPECT_THAT(wrong.out, HasSubstr(one.says)) << one.type << wrong.out;
  }
}

TEST_F(UserKernelTest, IsCheckedOnValuesThatMatter) {
  // The spread of each eight numbers; computed from their squares it loses all digits if the numbers are
  // nearly equal.
  const std::string sums =
      "{ float s = 0, q = 0, v = 0; const int b = i / 8 * 8; for (int k = 0; k < 8 && b + k < n; ++k) { s += "
      "x[b + k] / 8; q += "
      "x[b + k] * x[b + k] / 8; } for (int k = 0; k < 8 && b + k < n; ++k) v += (x[b + k] - s) * (x[b + k] - "
      "s) / 8; y[i] = ";
  write(of_type("float", sums + "b + 8 <= n ? v : 0; }", sums + "b + 8 <= n ? v : 0; }"));
  EXPECT_EQ(scratch.tunesmith(check).exit_code, 0);
  write(of_type("float", sums + "b + 8 <= n ? q - s * s : 0; }", sums + "b + 8 <= n ? v : 0; }"));
  const Outcome unstable = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=96");
  EXPECT_EQ(unstable.exit_code, 1) << unstable.out;
  EXPECT_THAT(unstable.out, HasSubstr("numbers from 1000 to 1001"));
  // Indices: only the description knows their valid values.
  const auto gathering = [&](const std::string& values) {
    std::string text = of_type("float", "y[i] = x[k[i]];", "y[i] = x[k[i]];",
                               "x = [\"n\"]\nk = { extents = [\"n\"]" + values + " }\n");
    for (std::size_t at; (at = text.find("(const float* x, float")) != std::string::npos;)
      text.replace(at, 16, "(const int* k, const float* x,");
    return text;
  };
  write(gathering(", values = \"index(n)\""));
  const Outcome inside = scratch.tunesmith(check);
  EXPECT_EQ(inside.exit_code, 0) << inside.out << inside.err;
  write(gathering(""));
  EXPECT_NE(scratch.tunesmith(check).exit_code, 0);
}

// A counter of 16 bits overflows only if many values are equal: on the problem itself, and not with its first
// values.
TEST_F(UserKernelTest, IsCheckedOnAllValuesOfTheProblemItself) {
  const auto counting = [](const std::string& type) {
    const std::string count = "(const int* x, int* y, int n) {\n  if (threadIdx.x > 0) return;\n  ";
    const std::string zeros =
        " zeros = 0;\n  for (int i = 0 * BLOCK; i < n; ++i) zeros += x[i] == 0;\n  *y = zeros;\n}\n";
    return "/* tunesmith\nkernel = \"count\"\n[problem]\nn = [1, 100000]\n[arrays]\nx = [\"n\"]\ny = { "
           "extents = "
           "[\"1\"], role = \"output\" }\n[axes]\nBLOCK = [64, 32]\n[launch]\ngrid = \"1\"\nblock = "
           "\"BLOCK\"\n" +
           compared + "*/\n__global__ void count" + count + type + zeros + "__global__ void plain" + count +
           "int" + zeros;
  };
  write(counting("int"));
  const Outcome right = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=100000");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  write(counting("unsigned short"));
  const Outcome wrong = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=100000");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("y[0] is 34464, expected 100000"));
}

TEST_F(UserKernelTest, AToleranceThatLetsZerosPassIsAnError) {
  std::string text = of_type("float", "y[i] = 0 * x[i];", "y[i] = x[i];");
  text.replace(text.find("[problem]"), 0, "tolerance = { absolute = 1 }\n");
  write(text);
  const Outcome loose = scratch.tunesmith(check);
  EXPECT_EQ(loose.exit_code, 1) << loose.out;
  EXPECT_THAT(loose.err, HasSubstr("lets zeros pass for all of y on n=100"));
  write(of_type("float", "y[i] = x[i];", "if (n < 0) y[i] = x[i];"));
  const Outcome idle = scratch.tunesmith(check);
  EXPECT_THAT(idle.err, HasSubstr("wrote nothing to y"));
}

TEST_F(UserKernelTest, CompileErrorsNameTheFileAndItsLine) {
  std::filesystem::create_directory(scratch.path() / "parts");
  std::ofstream(scratch.path() / "parts" / "helper.cuh")
      << "#pragma once\n\n__device__ float f(float x) { return x }\n";
  std::string text = of_type("float", "y[i] = x[i]\n;", "y[i] = x[i];");
  const std::string broken = std::string(text).replace(text.find("x[i]\n;"), 6, "x[i]\n}");
  const auto line = std::to_string(
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("x[i]\n;")), '\n'));
  write(broken);
  const Outcome host = scratch.tunesmith(check);
  EXPECT_EQ(host.exit_code, 1);
  EXPECT_THAT(host.err, HasSubstr("twice.cu:" + line + ":"));
  EXPECT_THAT(host.err, HasSubstr("in or behind the kernel twice, does not compile for host"));
  EXPECT_THAT(host.err, Not(HasSubstr("variant.cpp")));
  text.replace(text.find("__global__ void twice"), 0, "#include \"parts/helper.cuh\"\n");
  text.replace(text.find("x[i]\n;"), 4, "f(x[i])");
  write(text);
  const Outcome included = scratch.tunesmith(check);
  EXPECT_THAT(included.err, HasSubstr("parts/helper.cuh:3:"));
  text.replace(text.find("parts/helper.cuh"), 16, "../../etc/hostname");
  write(text);
  const Outcome outside = scratch.tunesmith(check);
  EXPECT_THAT(
      outside.err,
      HasSubstr("The file ../../etc/hostname, which twice.cu includes, is not there or not one of C++"));
}

TEST_F(UserKernelTest, MayBeWrittenAsTutorialsDo) {
  std::string text = of_type("float", "y[i] = sum(x[i]);", "y[i] = x[i] + 1;");
  text.replace(
      text.find("__global__ void twice"), 0,
      "extern __shared__ float tile[];\n#ifdef __CUDA_ARCH__\n#include "
      "<no_such_header.h>\n#endif\n"
      "inline __host__ __device__ float2 make_float2(float s) { return make_float2(s, s); }\n"
      "__device__ float2 fminf(float2 a, float2 b) { return make_float2(fminf(a.x, b.x), fminf(a.y, "
      "b.y)); }\n"
      "__device__ float nothing(uint a, ushort b, ulong c, uchar d) { return (a + b + c + d) * M_PI - "
      "10 * M_PI + fminf(make_float2(1), make_float2(0, 1)).x; }\nnamespace {\n"
      "__device__ float sum(float v) { static __shared__ float one[128]; one[threadIdx.x] = v; "
      "tile[threadIdx.x] = 1; return "
      "one[threadIdx.x] + tile[threadIdx.x] + nothing(1, 2, 3, 4); }\n");
  text.replace(text.find("__global__ void plain"), 0, "}\n");
  text.replace(text.find("[reference]"), 0, "shared_bytes = 1024\n");
  write(text);
  const Outcome outcome = scratch.tunesmith(check);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

// A template in a namespace without a name, with an overload, a specialisation and an explicit instantiation.
const std::string blend = R"cu(/* tunesmith
kernel = "blend"
dtype = "f32"
[problem]
n = [1, 100000]
R = { default = 2, maximum = 8 }
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
w = { extents = ["n"], dtype = "f64" }
[axes]
BLOCK = [64, 128]
FAST = [true, false]
MODE = [0, 1]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
shared_bytes = "4 * BLOCK"
[reference]
kernel = "plain"
instantiate = "plain<1, T>"
*/
namespace own {
enum class Mode { forward, backward };
namespace {
template <typename T, int BLOCK, bool FAST, Mode MODE, unsigned R, typename W = double, int MORE = R + 1>
__global__ void __launch_bounds__(BLOCK) blend(const T* __restrict__ x, T* y, const W* w, int n);
template <typename T, int BLOCK, bool FAST, Mode MODE, unsigned R, typename W, int MORE>
__global__ void __launch_bounds__(BLOCK)
    blend(const T* __restrict__ x,
          T* y,  // the output
          const W* w, const int n) {
  extern __shared__ T tile[];
  __shared__ T same[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  same[threadIdx.x] = tile[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  if constexpr (MODE == Mode::forward) {
    if (i < n) y[i] = same[threadIdx.x] * T(R - 1) + tile[threadIdx.x] + T(w[i]) + T(MORE);
  } else {
    if (i < n) y[i] = T(w[i] + MORE + T(R) * x[i]);
  }
}
template <typename T> __global__ void blend(T* y) { y[0] = 0; }
template <> __global__ void blend<int>(int* y) { y[0] = 1; }
template __global__ void blend<float, 32, true, Mode::forward, 3>(const float*, float*, const double*, int);
}
}
template <int N, typename T>
__global__ void plain(const T* x, T* y, const double* w, int n) {
  for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * N, end = i + N; i < end; ++i)
    if (i < n) y[i] = x[i] * 2 + w[i] + 3;
}
)cu";

TEST_F(UserKernelTest, MayBeATemplate) {
  std::string text = blend;
  text.insert(text.find("[problem]"), "instantiate = \"blend<T, BLOCK, FAST, MODE, R>\"\n");
  write(text);
  const Outcome right = scratch.tunesmith("check twice.cu --device host --random 2 --problem n=1000");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Outcome compiled = scratch.tunesmith("check twice.cu --target sm_90a --random 0 --problem n=1000");
  const bool has_nvrtc = !has(compiled.out + compiled.err, "libnvrtc");
  EXPECT_TRUE(!has_nvrtc || compiled.exit_code == 0) << compiled.out << compiled.err;
  // An argument that its parameter cannot hold is no other variant's.
  text.replace(text.find("FAST, MODE, R>"), 4, "FAST + 1");
  write(text);
  const Outcome wrong = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=1000");
  EXPECT_NE(wrong.exit_code, 0) << wrong.out;
  EXPECT_THAT(wrong.out + wrong.err,
              HasSubstr("The template parameter FAST of blend has the type bool, which cannot hold the "
                        "value of FAST + 1."))
      << wrong.out << wrong.err;
}

// y = (the sum of some weights) x, with weights in constant memory, a variable that each launch counts in,
// and a host function as reference.
const std::string weighted = R"cu(/* tunesmith
symbols = { weights = "w" }
zeroed = ["blocks"]
[problem]
n = [1, 100000]
taps = [1, 8]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
w = { extents = ["taps"], role = "constant" }
[axes]
BLOCK = [64, 128]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "expected"
arguments = ["x", "y", "w", "n", "taps"]
*/
namespace own {
namespace {
static __constant__ float weights[8];
}
__device__ unsigned blocks;
}
using namespace own;
void expected(const float* x, float* y, const float* w, int n, int taps) {
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int k = 0; k < taps; ++k) y[i] += w[k] * x[i];
  }
}
__global__ void twice(const float* x, float* y, int n, int taps) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < taps; ++k) sum += weights[k] * (i < n ? x[i] : 0);
  if (threadIdx.x == 0 && atomicAdd(&blocks, 1u) >= gridDim.x) sum = 0;
  if (i < n) y[i] = sum;
}
)cu";

TEST_F(UserKernelTest, ConstantMemoryIsFilledBeforeEachLaunch) {
  write(weighted);
  const std::string check_it = "check twice.cu --random 2 --problem 'n=1000 taps=8' ";
  const Outcome right = scratch.tunesmith(check_it + "--device host");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Outcome tuned =
      scratch.tunesmith("tune twice.cu --device host --budget all --problem 'n=1000 taps=5'");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const Outcome chosen = scratch.tunesmith("explain twice.cu --device host --problem 'n=1000 taps=5'");
  EXPECT_THAT(chosen.out, HasSubstr("match: exact")) << chosen.out << chosen.err;
  const Outcome compiled = scratch.tunesmith(check_it + "--target sm_90a");
  const bool has_nvrtc = !has(compiled.out + compiled.err, "libnvrtc");
  EXPECT_TRUE(!has_nvrtc || compiled.exit_code == 0) << compiled.out << compiled.err;
  // Faults of a variable are found: a shorter one, and a kernel that reads behind the array.
  std::string text = weighted;
  text.replace(text.find("weights[8]"), 10, "weights[7]");
  write(text);
  const Outcome shorter = scratch.tunesmith(check_it + "--device host");
  EXPECT_NE(shorter.exit_code, 0) << shorter.out;
  EXPECT_THAT(shorter.out + shorter.err,
              HasSubstr("The symbol weights holds 28 bytes, too few for the 32 to be copied."))
      << shorter.out << shorter.err;
  text = weighted;
  text.replace(text.find("k < taps; ++k) sum"), 8, "k < 8   ");
  write(text);
  const Outcome beyond =
      scratch.tunesmith("check twice.cu --random 0 --problem 'n=1000 taps=5' --device host");
  EXPECT_EQ(beyond.exit_code, 1) << beyond.out << beyond.err;
  // Not zeroed, it counts on.
  text = weighted;
  text.replace(text.find("zeroed = [\"blocks\"]\n"), 20, "\n");
  write(text);
  EXPECT_EQ(scratch.tunesmith(check_it + "--device host").exit_code, 1);
}

// The best path through a table, whose tiles on a diagonal are one launch.
const std::string diagonals = R"cu(/* tunesmith
name = "twice"
[problem]
n = [1, 2000]
[arrays]
w = ["n", "n"]
t = { extents = ["n + 1", "n + 1"], role = "inout" }
[axes]
B = [16, 4, 8]
[launch]
repeat = "2 * ceil_div(n, B) - 1"
grid = "min(step, 2 * ceil_div(n, B) - 2 - step) + 1"
block = "B"
arguments = ["w", "t", "n", "step"]
[reference]
function = "best"
*/
#define B 16
#define MOST(a, b) ((a) > (b) ? (a) : (b))
__global__ void diagonal(const int* w, int* t, int n, int d) {
  const int tiles = (n + B - 1) / B, tx = blockIdx.x + MOST(0, d - tiles + 1), ty = d - tx;
  for (int s = 0; s < 2 * B - 1; ++s) {
    const int x = threadIdx.x, y = s - x, i = ty * B + y + 1, j = tx * B + x + 1;
    if (y >= 0 && y < B && i <= n && j <= n) {
      int best = t[(i - 1) * (n + 1) + j - 1] + w[(i - 1) * n + j - 1];
      best = MOST(best, t[(i - 1) * (n + 1) + j]);
      t[i * (n + 1) + j] = MOST(best, t[i * (n + 1) + j - 1]);
    }
    __syncthreads();
  }
}
void best(const int* w, int* t, int n) {
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      int best = t[(i - 1) * (n + 1) + j - 1] + w[(i - 1) * n + j - 1];
      if (t[(i - 1) * (n + 1) + j] > best) best = t[(i - 1) * (n + 1) + j];
      t[i * (n + 1) + j] = t[i * (n + 1) + j - 1] > best ? t[i * (n + 1) + j - 1] : best;
    }
  }
}
)cu";

TEST_F(UserKernelTest, MayBeALaunchPerDiagonal) {
  write(diagonals);
  const Outcome tuned = scratch.tunesmith("tune twice.cu --device host --budget all --problem n=50");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("ok 3;")) << tuned.out << tuned.err;
  // Blocks of one launch that depend on each other are found.
  std::string text = diagonals;
  text.replace(text.find("repeat = \"2 * ceil_div(n, B) - 1\""), 33, "repeat = \"ceil_div(n, B)\"");
  text.replace(text.find("min(step, 2 * ceil_div(n, B) - 2 - step) + 1"), 44, "ceil_div(n, B)");
  text.replace(text.find("tx = blockIdx.x + MOST(0, d - tiles + 1), ty = d - tx"), 53,
               "tx = blockIdx.x, ty = d");
  write(text);
  const Outcome unordered = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=50");
  EXPECT_EQ(unordered.exit_code, 1) << unordered.out << unordered.err;
  EXPECT_THAT(unordered.out, HasSubstr("nothing puts the two in order"));
}

TEST_F(UserKernelTest, MayHaveSeveralLaunchesAndWorkspaces) {
  const std::string total =
      example("total", {{"BLOCK = [128, 64, 256]", "BLOCK = [128]"}, {"[16, 32, 64, 128]", "[16, 32]"}});
  const auto check = [&](const std::string& from, const std::string& to) {
    std::string text = total;
    EXPECT_THAT(text, HasSubstr(from));
    if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
    write(text);
    return scratch.tunesmith("check twice.cu --device host --random 0 --problem n=5000");
  };
  const Outcome right = check("", "");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Outcome beyond = check("i < BLOCKS; i += BLOCK) own += sums", "i <= BLOCKS; i += BLOCK) own += sums");
  EXPECT_EQ(beyond.exit_code, 1) << beyond.out << beyond.err;
  EXPECT_THAT(beyond.out, HasSubstr("reads element 16 of sums, which has 16"));
  const Outcome overrun = check("sums[blockIdx.x] = sum", "sums[blockIdx.x + 1] = sum");
  EXPECT_EQ(overrun.exit_code, 1) << overrun.out << overrun.err;
  EXPECT_THAT(overrun.out, HasSubstr("writes element 16 of sums, which has 16"));
  // An array that no launch has written holds nothing.
  const Outcome unwritten =
      check("if (threadIdx.x == 0) sums", "if (threadIdx.x == 0 && blockIdx.x * BLOCK < n) sums");
  EXPECT_EQ(unwritten.exit_code, 1) << unwritten.out << unwritten.err;
  EXPECT_THAT(unwritten.out, HasSubstr("total[0] is NaN"));
  EXPECT_THAT(unwritten.out, HasSubstr("It depends on what memory held before"));
  const Outcome zeroed = check("name = \"total\"", "name = \"total\"\nzeroed = [\"sums\", \"total\"]");
  EXPECT_EQ(zeroed.exit_code, 0) << zeroed.out << zeroed.err;
  std::string text = total;
  text.replace(text.find("name = \"total\""), 14, "name = \"total\"\nzeroed = [\"sums\"]");
  text.insert(text.find("(threadIdx.x == 0) sums") + 1, "blockIdx.x * BLOCK < n && ");
  write(text);
  const Outcome filled = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=5000");
  EXPECT_EQ(filled.exit_code, 0) << filled.out << filled.err;
  const Outcome compiled = scratch.tunesmith("check twice.cu --random 2 --problem n=5000 --target sm_90a");
  const bool has_nvrtc = !has(compiled.out + compiled.err, "libnvrtc");
  EXPECT_TRUE(!has_nvrtc || compiled.exit_code == 0) << compiled.out << compiled.err;
}

TEST_F(UserKernelTest, RepeatedLaunchesReadWhatTheOnesBeforeWrote) {
  const std::string heat = example("heat", {{"steps = [1, 1000]", "steps = [1, 60]"},  // each is a launch
                                            {"[128, 64, 256, 512]", "[128]"},
                                            {"[1, 2, 4, 8, 16]", "[1, 4]"}});
  const auto check = [&](const std::string& from, const std::string& to) {
    std::string text = heat;
    EXPECT_THAT(text, HasSubstr(from));
    if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
    write(text);
    return scratch.tunesmith("check twice.cu --device host --random 0 --problem 'n=1500 steps=9'");
  };
  const Outcome right = check("", "");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_THAT(scratch.tunesmith("explain twice.cu --device host --problem 'n=1500 steps=9'").out,
              HasSubstr("It is launched as 9 steps:\n  9 times: heat<<<12, 128>>>(start, end, 1500, 1), with "
                        "other arguments each time\n"));
  EXPECT_THAT(scratch.tunesmith("render twice.cu --target sm_80 --problem 'n=1500 steps=9'").out,
              HasSubstr("\n// Launched as 9 steps:\n//   9 times: heat<<<12, 128>>>("));
  // One halo is too small.
  const Outcome narrow = check("thread >= STEPS &&", "thread >= STEPS - 1 &&");
  EXPECT_EQ(narrow.exit_code, 1) << narrow.out << narrow.err;
  // A launch too few.
  const Outcome few = check("ceil_div(steps, STEPS)", "max(1, steps / STEPS)");
  EXPECT_EQ(few.exit_code, 1) << few.out << few.err;
  // In place, blocks read what other blocks of the launch write.
  const Outcome in_place = check("after[i] = own", "const_cast<float*>(before)[i] = after[i] = own");
  EXPECT_EQ(in_place.exit_code, 1) << in_place.out << in_place.err;
}

TEST_F(UserKernelTest, OptionsOfTheCompilerMayBeTuned) {
  std::string text = twice("if (i < n) y[i] = SCALE * x[i] / (PART > 0 ? 1 : 2);", compared);
  text.insert(text.find("PART ="), "FAST = [false, true]\nREGISTERS = [0, 32]\n");
  text.insert(
      text.find("[launch]"),
      "[compile]\nfast_math = \"FAST\"\nmaxrregcount = \"REGISTERS\"\nstandard = \"c++17\"\ndefines = { "
      "SCALE = 2 }\n");
  write(text);
  const Outcome checked = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=1000");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  const Outcome compiled = scratch.tunesmith("check twice.cu --random 4 --problem n=1000 --target sm_90a");
  const bool has_nvrtc = !has(compiled.out + compiled.err, "libnvrtc");
  EXPECT_TRUE(!has_nvrtc || compiled.exit_code == 0) << compiled.out << compiled.err;
  text.replace(text.find("SCALE = 2"), 9, "SCALE = 3");
  write(text);
  EXPECT_EQ(scratch.tunesmith("check twice.cu --device host --random 0 --problem n=1000").exit_code, 1);
}

// What has one size in all problems holds its values in the largest one too: there zeros would divide by
// zero.
TEST_F(UserKernelTest, TheLargestProblemKeepsSmallInputs) {
  for (const auto& [times, code] :
       std::initializer_list<std::pair<const char*, int>>{{"3", 0}, {"3000", 1}}) {
    write(
        "/* tunesmith\nname = \"twice\"\n[problem]\nn = [1, 10000000]\n[arrays]\nx = [\"n\"]\n"
        "cell = { extents = [3], values = [1, 2] }\ny = { extents = [\"n\"], role = \"output\" }\n[axes]\n"
        "BLOCK = [128]\n[launch]\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n*/\n#define BLOCK 128\n"
        "__global__ void cells(const float* x, const float* cell, int* y, int n) {\n"
        "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
        "  if (i < n) y[i] = (int)floorf((x[i] - n) / cell[i % 3]) * " +
        std::string(times) + " - 1;\n}\n");
    const Outcome checked = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=5");
    EXPECT_EQ(checked.exit_code, code) << times << checked.out << checked.err;
  }
}

// Each array that may have more than 2^31 elements is looked at, wherever its sizes stand.
TEST_F(UserKernelTest, IndicesOverflowInEachArray) {
  ASSERT_EQ(::unsetenv("TUNESMITH_CXX"), 0);  // a compiler that is set is the only one
  const bool has_clang = scratch.shell("clang++ --version").exit_code == 0;
  for (const char* sizes : {"m = [1, 100000]\nk = [1, 100000]\nl = [1, 100000]\n",
                            "k = [1, 100000]\nl = [1, 100000]\nm = [1, 100000]\n"}) {
    for (const auto& [index, code] : std::initializer_list<std::pair<const char*, int>>{
             {"a[row * k] + b[(size_t)(k - 1) * l]", 1},
             {"a[(size_t)row * k] + b[(k - 1) * l]", 1},
             {"a[(unsigned)row * k] + b[(size_t)(k - 1) * l]", has_clang ? 1 : 0},
             {"a[(size_t)row * k] + b[(size_t)(k - 1) * l]", 0}}) {
      write("/* tunesmith\nname = \"twice\"\n[problem]\n" + std::string(sizes) +
            "[arrays]\na = [\"m\", \"k\"]\nb = [\"k\", \"l\"]\ny = { extents = [\"m\"], role = \"output\" }\n"
            "[axes]\nBLOCK = [128]\n[launch]\ngrid = \"m\"\nblock = \"BLOCK\"\n*/\n#define BLOCK 128\n"
            "__global__ void far_row(const float* a, const float* b, float* y, int m, int k, int l) {\n"
            "  const int row = blockIdx.x;\n  if (threadIdx.x == BLOCK - 1) y[row] = " +
            index + ";\n}\n");
      const Outcome checked =
          scratch.tunesmith("check twice.cu --device host --random 0 --problem 'm=3 k=4 l=5'");
      EXPECT_EQ(checked.exit_code, code) << sizes << index << checked.out << checked.err;
      EXPECT_EQ(code == 1, has(checked.out, "integers overflows on ")) << index;
    }
  }
}

TEST_F(UserKernelTest, AnIndexOf16BitsWrapsBeyondSmallProblems) {
  for (const auto& [type, code] :
       std::initializer_list<std::pair<const char*, int>>{{"unsigned short", 1}, {"int", 0}}) {
    write(twice("const " + std::string(type) + " at = i; if (i < n) y[i] = PART * x[at] / PART + x[at];",
                compared));
    const Outcome checked = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=1000");
    EXPECT_EQ(checked.exit_code, code) << type << checked.out << checked.err;
  }
}

TEST_F(UserKernelTest, SmallProblemsReachFar) {
  const auto check = [&](const std::string& body) {
    std::string text =
        twice("for (int k = 0; k < PART / PART; ++k)\n    if (i < n) y[i] = 2 * " + body + ";", compared);
    text.replace(text.find("[64, 32]"), 8, "[32]");
    write(text);
    return scratch.tunesmith("check twice.cu --device host --random 0 --problem n=70");
  };
  const Outcome right = check("x[i]");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Outcome narrow = check("x[(unsigned char)i == i ? i : 0]");  // an index of 8 bits
  EXPECT_EQ(narrow.exit_code, 1);
  EXPECT_THAT(narrow.out, HasSubstr("37 of 293 elements are wrong on n=293"));
  const Outcome above = check("fmaxf(x[i], -500.0f)");
  EXPECT_EQ(above.exit_code, 1);
  EXPECT_THAT(above.out, HasSubstr("where x holds numbers from -1001 to -1000"));
}

// A compiler may take a variable that is set on one path only for what it is there, so that no plain run
// shows it.
TEST_F(UserKernelTest, AVariableThatIsReadBeforeItIsSetIsFound) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "no variant is watched beside another sanitizer";
#endif
  const auto check = [&](const std::string& declared) {
    std::string text = twice("float more" + declared +
                                 ";\n  if (threadIdx.x == 0) more = 0;\n  if (i < n) y[i] = 2 * x[i] + "
                                 "more * PART;",
                             compared);
    text.replace(text.find("[64, 32]"), 8, "[32]");
    write(text);
    return scratch.tunesmith("check twice.cu --device host --random 0 --problem n=70");
  };
  const Outcome right = check(" = 0");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Outcome wrong = check("");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_THAT(wrong.out, HasSubstr("Is one read before it is set, such as an element of an array?"));
}

// Numbers that are narrower than an int, and vectors.
TEST_F(UserKernelTest, TakesNumbersAndVectorsAsTheFileNamesThem) {
  write(R"cu(/* tunesmith
[problem]
n = [1, 10000]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
[axes]
BLOCK = [64, 128]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
arguments = ["x", "y", "n", "n > 5", "n % 7 - 3", 200, 0.5, -300]
[reference]
function = "expected"
arguments = ["x", "y", "n", "n > 5", "n % 7 - 3"]
*/
#include <cstdint>
typedef unsigned long long int count_t;
#define DATA_TYPE double
void expected(const float* x, float* y, int n, int more, int some) {
  for (int i = 0; i < 4 * n; ++i) y[i] = x[i] + 200 * more + some - 299.5;
}
__global__ void twice(const float4* x, float4* y, count_t n, bool more, char some, uint8_t many, DATA_TYPE half, short few) {
  const count_t i = blockIdx.x * BLOCK + threadIdx.x;
  const float z = (more ? many : 0) + some + half + few;
  if (i < n) y[i] = make_float4(x[i].x + z, x[i].y + z, x[i].z + z, x[i].w + z);
}
)cu");
  for (const char* n : {"3", "1000", "1001"}) {
    const Outcome right =
        scratch.tunesmith(std::string("check twice.cu --device host --random 1 --problem n=") + n);
    EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  }
  const Outcome compiled = scratch.tunesmith("check twice.cu --target sm_90a --random 0 --problem n=1000");
  const bool has_nvrtc = !has(compiled.out + compiled.err, "libnvrtc");
  EXPECT_TRUE(!has_nvrtc || compiled.exit_code == 0) << compiled.out << compiled.err;
}

TEST_F(UserKernelTest, HasMetricsOfItsOwn) {
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;",
              compared + "[metrics]\nelements = \"n / (time / time)\"\nblocks = \"n / BLOCK\"\n"));
  const Outcome tuned = scratch.tunesmith(tune + "--budget 2");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, testing::ContainsRegex("config +elements +blocks"));
  EXPECT_THAT(tuned.out, testing::ContainsRegex("winner .*BLOCK=.* +1000 +[0-9.]+")) << tuned.out;
  EXPECT_THAT(tuned.out, testing::ContainsRegex("base .* +1000 *\n"))
      << "the base's config is not in the table";
  EXPECT_THAT(scratch.tunesmith("query twice.cu --format csv").out, HasSubstr("since,elements,blocks"));
  EXPECT_THAT(scratch.tunesmith("query twice.cu --all --format json").out, HasSubstr("\"elements\": 1000"));
  EXPECT_THAT(scratch.tunesmith("query twice --format csv").out, Not(HasSubstr("elements")))
      << "only the file says them";
}

TEST_F(UserKernelTest, QueryCountsTheVariantsOfEachValue) {
  write(twice("if (i < n) y[i] = 2 * x[i] + (PART == 2 && BLOCK == 64 ? 1 : 0);", compared));
  EXPECT_EQ(scratch.tunesmith(tune + "--budget all").exit_code, 0);
  const Outcome axes = scratch.tunesmith("query twice.cu --axes --problem n=1000 --format csv");
  EXPECT_THAT(axes.out, HasSubstr("\"1: 2, 2: 1 + 1 failed\"")) << axes.out << axes.err;
  EXPECT_THAT(axes.out, HasSubstr("\"32: 2, 64: 1 + 1 failed\""));
}

TEST_F(UserKernelTest, IsCompiledWithoutADevice) {
  for (const char* name : {"heat", "total"}) {  // UserKernelNvrtc.TheExamplesCompile has the others
    const Outcome compiled =
        scratch.tunesmith("check " + examples + "/" + name + ".cu --target sm_90a --random 0");
    if (has(compiled.out + compiled.err, "libnvrtc")) GTEST_SKIP() << "there is no NVRTC here";
    EXPECT_EQ(compiled.exit_code, 0) << name << compiled.out << compiled.err;
    EXPECT_THAT(compiled.out, HasSubstr(", 0 do not. Nothing was run."));
  }
  write(twice("if (i < n) y[i] = PART == 1 ? 2 * x[i] : asm(\"\");", compared));
  const Outcome wrong = scratch.tunesmith("check twice.cu --target sm_90a --problem n=10");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_THAT(wrong.out, HasSubstr("twice.cu:"));
  EXPECT_THAT(wrong.out, Not(HasSubstr("variant.cu")));
  EXPECT_EQ(scratch.tunesmith("check twice.cu --target sm_90a --device host").exit_code, 2);
  if (scratch.shell("nvcc --version || /usr/local/cuda/bin/nvcc --version").exit_code != 0)
    GTEST_SKIP() << "there is no nvcc here";
  for (const auto& [name, problem] :
       std::initializer_list<std::pair<std::string, std::string>>{{"softmax_rows", "rows=64 cols=1000"},
                                                                  {"tiled_matmul", "m=64 n=64 k=64"},
                                                                  {"stencil", "height=64 width=64"}}) {
    const Outcome alone =
        scratch.shell(TUNESMITH_PROGRAM " render " + examples + "/" + name + ".cu --problem '" + problem +
                      "' --target sm_90a -o v.cu && PATH=$PATH:/usr/local/cuda/bin nvcc -std=c++20 "
                      "-arch=sm_90a -cubin v.cu -o v.cubin && head -1 v.cu");
    EXPECT_EQ(alone.exit_code, 0) << alone.out << alone.err;
    EXPECT_THAT(alone.out, HasSubstr("rendered by Tunesmith from " + name + ".cu:"));
  }
}

TEST_F(UserKernelTest, WithoutAReferenceTheUntunedKernelIsOne) {
  write(twice("if (i < n) y[i] = 2 * x[i] + (PART == 2 ? 1 : 0);"));
  const Outcome tuned = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("The reference of twice is its untuned kernel itself"));
  EXPECT_THAT(tuned.out, HasSubstr("wrong_result 2"));
}

TEST_F(UserKernelTest, AWrongVariantIsFoundOnSmallProblems) {
  // With 1000 elements the last block has 40 of them; with 1024 elements no thread is beyond the end.
  write(twice("if (i < n || PART == 2) y[i] = 2 * x[i < n ? i : 0];", compared));
  const Outcome tuned = scratch.tunesmith("tune twice.cu --device host --budget all --problem n=1024");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("out_of_bounds 2")) << tuned.out << tuned.err;
}

TEST_F(UserKernelTest, AWrongBaseIsAnAlarm) {
  write(twice("if (i < n) y[i] = BLOCK == 64 ? 3 * x[i] : PART * 0 + 2 * x[i];", compared));
  const Outcome tuned = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(tuned.exit_code, 1) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out + tuned.err, HasSubstr("wrong_result")) << tuned.out << tuned.err;
}

TEST_F(UserKernelTest, IsCheckedWithoutASearch) {
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;", compared + "[problem.dtype]\n"));
  EXPECT_EQ(scratch.tunesmith("check twice.cu --device host").exit_code, 2) << "a wrong description";
  write(twice("if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;", compared));
  const std::string check = "check twice.cu --device host --random 0 --problem n=1000 --problem n=64";
  const Outcome right = scratch.tunesmith(check);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  // The base is judged on both problems, and two other values of the axes.
  EXPECT_THAT(right.out,
              HasSubstr(": 4 variants are right on 2 problems and their companions, 0 are wrong."));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "tunesmith.db"));

  write(twice("if (i < n || PART == 2) y[i] = 2 * x[i < n ? i : 0];", compared));
  const Outcome wrong = scratch.tunesmith(check);
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out,
              HasSubstr("twice: out_of_bounds 1, BLOCK=64 PART=2. The variant writes element 1 of y, which"));
  EXPECT_THAT(wrong.out, HasSubstr(": 3 variants are right on 2 problems and their companions, 1 is wrong."));
  write(twice("if (i < n) y[i] = PART + 2 * x[i];", compared));
  EXPECT_EQ(scratch.tunesmith(check).exit_code, 1) << "all are wrong";
}

TEST_F(UserKernelTest, WhatTheCompilerCannotMakeForTheWatchIsSaidOnce) {
  const std::string check = "check twice.cu --device host --random 0 --problem n=64";
  const auto text = [](const std::string& before) {
    return twice(before + "if (i < n) y[i] = PART > 0 ? 2 * x[i] : 0;", compared);
  };
  write(text("\n#ifdef TUNESMITH_WATCHED\n#error \"no watch\"\n#endif\n  "));
  const Outcome unwatched = scratch.tunesmith(check);
  EXPECT_EQ(unwatched.exit_code, 0) << unwatched.out << unwatched.err;
  EXPECT_THAT(unwatched.out,
              HasSubstr("The accesses of 3 variants were not watched, because the compiler did "
                        "not make them for that: only results were compared. It said: "));
  EXPECT_THAT(unwatched.out, HasSubstr("no watch"));
  write(text(""));
  EXPECT_THAT(scratch.tunesmith(check).out, Not(HasSubstr("not watched")));
}

// Inline PTX that the host does not run is named; the rest is checked.
TEST_F(UserKernelTest, InlinePtxIsChecked) {
  const std::string check = "check twice.cu --device host --random 0 --problem n=1000";
  const std::string twice_by_ptx =
      "if (i < n * PART / PART) {\n    float two;\n    asm(\"add.f32 %0, %1, \"\n        \"%1;\" "
      ": \"=f\"(two) : \"f\"(x[i]));\n    ";
  write(twice(twice_by_ptx + "asm volatile(\"st.global.f32 [%0], %1;\" :: \"l\"(y + i), \"f\"(two));\n  }",
              compared));
  const Outcome right = scratch.tunesmith(check);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  write(twice(twice_by_ptx + "asm volatile(\"st.async.f32 [%0], %1;\" :: \"l\"(y + i), \"f\"(two));\n  }",
              compared));
  const Outcome refused = scratch.tunesmith(check);
  EXPECT_EQ(refused.exit_code, 1) << refused.out << refused.err;
  EXPECT_THAT(refused.out + refused.err, HasSubstr("twice.cu:24:"));
  EXPECT_THAT(refused.out + refused.err,
              HasSubstr("The host does not run this asm statement, because it does not know the "
                        "instruction st.async.f32."));
}

// Sums of floats that are members of structs may have any order; integers may not differ, and padding is no
// result. The description counts structs.
TEST_F(UserKernelTest, StructsAreComparedByTheirMembers) {
  const std::string kernel = R"~(/* tunesmith
[problem]
rows = [1, 1000]
cols = [1, 100]
[arrays]
x = ["rows", "cols"]
sums = { extents = ["rows"], role = "output" }
bodies = { extents = ["rows"], role = "inout", values = { "place.cell" = "index(cols)" } }
pairs = { extents = ["rows"], role = "output" }
[axes]
BLOCK = [64]
PARTS = [1, 3]
[launch]
grid = "ceil_div(rows, BLOCK)"
block = "BLOCK"
[reference]
kernel = "plain"
*/
#include <cuda_fp16.h>
#define BLOCK 64
#define PARTS 1
typedef float Real;
struct Place {
  short layer;
  int cell;
};
struct Sum {
  char tag;
  double mean;
  Real parts[2][2];
  float4 wide;
  __half half;
  unsigned long long count;
};
typedef struct {
  Place place;
  float2 speed;
  bool moves;
} Body;
__device__ float sum(const float* x, int cols, int parts) {
  float all = 0;
  for (int part = 0; part < parts; ++part)
    for (int i = part; i < cols; i += parts) all += x[i];
  return all;
}
__device__ void fill(const float* x, Sum* sums, Body* bodies, float2* pairs, int row, int rows, int cols,
                     int parts) {
  if (row >= rows) return;
  x += row * cols;
  const float all = sum(x, cols, parts);
  Sum made;
  made.tag = static_cast<char>(row);
  made.mean = static_cast<double>(x[0]) / cols;
  for (int i = 0; i < 4; ++i) made.parts[i / 2][i % 2] = all * i;
  made.wide = make_float4(all, 1, 2, -all);
  made.half = __float2half(all * 0.01f);
  made.count = 1ull << 60 | row;
  sums[row] = made;
  pairs[row] = make_float2(all, x[0]);
  bodies[row].speed.y += x[bodies[row].place.cell] + all;
  bodies[row].place.layer = static_cast<short>(-row);
  bodies[row].moves = !bodies[row].moves;
}
__global__ void tuned(const float* x, Sum* sums, Body* bodies, float2* pairs, int rows, int cols) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  fill(x, sums, bodies, pairs, row, rows, cols, PARTS);
}
__global__ void plain(const float* x, Sum* sums, Body* bodies, float2* pairs, int rows, int cols) {
  fill(x, sums, bodies, pairs, blockIdx.x * blockDim.x + threadIdx.x, rows, cols, 1);
}
)~";
  const auto checked = [&](const std::string& wrong) {
    std::string text = kernel;
    const std::string end = "rows, cols, PARTS);\n";
    text.insert(text.find(end) + end.size(), "  if (PARTS > 1 && row < rows) " + wrong + ";\n");
    write(text);
    const Outcome made =
        scratch.tunesmith("check twice.cu --device host --random 0 --problem \"rows=70 cols=50\"");
    EXPECT_EQ(made.exit_code, wrong.empty() ? 0 : 1) << wrong << made.out << made.err;
    return made.out + made.err;
  };
  checked("");
  EXPECT_THAT(checked("if (row == 1) sums[row].parts[1][0] *= 1.001f"), HasSubstr("sums[1].parts[1][0] is "));
  EXPECT_THAT(checked("sums[row].count += 1"),
              HasSubstr("sums[0].count is 1152921504606846977, expected 1152921504606846976"));
  EXPECT_THAT(checked("if (row == 2) bodies[row].place.layer = 2"),
              HasSubstr("bodies[2].place.layer is 2, expected -2"));
  EXPECT_THAT(checked("sums[row].wide.z = 1"), HasSubstr("sums[0].wide.z is 1, expected 2"));
}

TEST_F(UserKernelTest, AWrongReferenceIsNamed) {
  std::string text = twice("if (i < n) y[i] = 2 * x[i] * PART / PART;", compared);
  text.replace(text.find("if (i < n) y[i] = x[i] + x[i]"), 10, "          ");
  write(text);
  const Outcome tuned = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(tuned.exit_code, 1) << tuned.out << tuned.err;
  EXPECT_TRUE(has(tuned.err, "The reference, the kernel plain of twice.cu,") ||
              has(tuned.err, "computes inputs and references"))
      << tuned.err;
  text = twice("if (i < n) y[i] = 2 * x[i] * PART / PART;", compared);
  text.replace(text.find("x[i] + x[i]"), 11, "x[i - 2500]");
  write(text);
  const Outcome outside = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=64");
  EXPECT_THAT(outside.err, HasSubstr("it accessed element -2500 of x, which has 64"));
}

// Such a write may destroy what the process that computes references needs; if not, it is the variant's.
TEST_F(UserKernelTest, AReferenceThatLeavesASharedArrayIsNamed) {
  write(
      "/* tunesmith\n[problem]\nn = [1, 1024]\n[arrays]\nd = { extents = [\"n\"], role = \"inout\" }\n"
      "[axes]\nREGISTERS = [0, 64]\n[compile]\nmaxrregcount = \"REGISTERS\"\n"
      "[launch]\ngrid = 1\nblock = \"n\"\n*/\n"
      "__global__ void reverse(int* d, int n) {\n  __shared__ int s[64];\n  s[threadIdx.x] = "
      "d[threadIdx.x];\n"
      "  __syncthreads();\n  d[threadIdx.x] = s[n - threadIdx.x - 1];\n}\n");
  const std::string check = "check twice.cu --device host --random 0 --problem n=";
  EXPECT_EQ(scratch.tunesmith(check + "64").exit_code, 1) << "a companion has more";
  const Outcome outside = scratch.tunesmith(check + "1000");
  EXPECT_EQ(outside.exit_code, 1);
  EXPECT_THAT(outside.err, HasSubstr("writes element 64 of the shared array s, which has 64")) << outside.err;
}

// The reference as a function for the host, with parts that a test inserts.
std::string with_function(const std::string& body, const std::string& reference = "function = \"doubled\"\n",
                          const std::string& declared = "void doubled(const float* x, float* y, int n)") {
  return "#include <cuda_fp16.h>\n#include <stdexcept>\n#include <vector>\n" +
         twice("if (i < n) y[i] = __half2float(__float2half(0)) + 2 * x[i] + (PART == 2 ? 1 : 0);",
               "[reference]\n" + reference) +
         declared + " {\n  std::vector<double> twice(n);\n" + body + "\n}\n";
}

TEST_F(UserKernelTest, AHostFunctionIsAReference) {
  write(with_function(
      "for (int i = 0; i < n; ++i) twice[i] = 2.0 * x[i];\nfor (int i = 0; i < n; ++i) y[i] = twice[i];"));
  const Outcome tuned = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("The reference of twice is the host function doubled of twice.cu."));
  EXPECT_THAT(tuned.out, HasSubstr("ok 2 wrong_result 2"));
  const Outcome rendered = scratch.tunesmith("render twice.cu --problem n=1000 --target sm_90a");
  EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
  EXPECT_THAT(rendered.out, Not(HasSubstr("std::vector"))) << "no kernel has the function in it";
  const Outcome checked = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=64");
  EXPECT_EQ(checked.exit_code, 1) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("wrong_result 1, BLOCK=64 PART=2"));
}

TEST_F(UserKernelTest, AHostFunctionThatFailsIsNamed) {
  struct Case {
    std::string text, sentence;
    int exit_code;
  };
  const std::string right = "for (int i = 0; i < n; ++i) y[i] = 2 * x[i];";
  const std::string named = "The reference, the host function doubled of twice.cu, ";
  for (const Case& one : {
           Case{with_function("y[0] = missing;"), named + "does not compile for host: ", 1},
           Case{with_function("y[0] = missing;"), "twice.cu:", 1},
           Case{with_function("if (n > 0) throw std::runtime_error(\"not today\");"), named + "threw on ", 1},
           Case{with_function("y[n] = 1;" + right), named + "wrote beyond the end or before the start of y",
                1},
           Case{with_function("*static_cast<volatile int*>(nullptr) = 1;"),
                "The process that computes inputs and references", 1},
           Case{with_function(right, "function = \"other\"\n"),
                "The function \"other\" of [reference] is not defined in twice.cu", 2},
           Case{with_function(right, "function = \"doubled\"\ngrid = \"n\"\n"),
                "a function is called once, on the host", 2},
           Case{with_function(right, "function = \"doubled\"\n",
                              "static void doubled(const float* x, float* y, int n)"),
                "is declared as \"static void\"; make it plain void", 2},
           Case{with_function(right, "function = \"doubled\"\n",
                              "void doubled(const float* x, float* y, int count)"),
                "It stands for parameter count of doubled", 2},
       }) {
    write(one.text);
    const Outcome tuned = scratch.tunesmith(tune + "--budget all");
    EXPECT_EQ(tuned.exit_code, one.exit_code) << tuned.out << tuned.err;
    EXPECT_THAT(tuned.err, HasSubstr(one.sentence)) << one.sentence << "\n" << tuned.err;
  }
}

TEST_F(UserKernelTest, WhatTheHostLacksIsSaid) {
  for (const auto& [header, use, says] :
       std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"<cuda/semaphore>", "cuda::binary_semaphore<cuda::thread_scope_block> b;",
            ", of which the kernel uses cuda, has no twin for the host: tune this kernel on a CUDA device"},
           {"<torch/extension.h>", "at::Half h;",
            ", of which the kernel uses at, is neither NVRTC's nor the host's"},
           {"<helper_math.h>", "float4 v;",
            " is not there, and the kernel uses vectors, whose operators it may define"},
           {"<sizes.h>", "\n#ifdef WIDE\n#endif\n",
            " is not there, and #if asks for WIDE, which it may define"}}) {
    write("\n#include <math.h>\n#include " + std::string(header) + "\n" +
          twice(std::string(use) + " if (i < n) y[i] = 2 * x[i] * PART / PART;", compared));
    const Outcome tuned = scratch.tunesmith(tune + "--budget all");
    EXPECT_EQ(tuned.exit_code, 1) << tuned.out << tuned.err;
    EXPECT_THAT(tuned.err, HasSubstr(std::string("The header ") + header + says));
    EXPECT_THAT(tuned.err, HasSubstr("twice.cu:3:"));
  }
  write("\n#include <cub/cub.cuh>\n" + twice("__shared__ cub::BlockShuffle<float, 64>::TempStorage one; if "
                                             "(i < n) y[i] = 2 * x[i] * PART / PART;",
                                             compared));
  const Outcome shuffled = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(shuffled.exit_code, 1) << shuffled.out << shuffled.err;
  EXPECT_THAT(shuffled.err,
              HasSubstr("cub::BlockShuffle has no twin for the host: tune this kernel on a CUDA"));
}

TEST_F(UserKernelTest, HeadersThatNoKernelHasAreLeftOut) {
  const std::string kernel = twice("if (i < n) y[i] = 2 * x[i] * PART / PART;", compared);
  const std::string check = "check twice.cu --random 0 --problem n=100 --device host";
  write(
      "#include <iostream>\n#include <time.h>\n#include <cublas_v2.h>\n#include \"helper_cuda.h\"\n#include "
      "<cooperative_groups.h>\n#include \"mine.h\"\n" +
      kernel);
  const Outcome host = scratch.tunesmith(check);
  EXPECT_EQ(host.exit_code, 0) << host.out << host.err;
  EXPECT_THAT(host.out + host.err, HasSubstr("no kernel has the header <iostream>; line 1 is left out."))
      << host.out << host.err;
  // Of the toolkit's headers it is known what they define.
  write("#include <cuda_fp8.h>\n#include <library_types.h>\n#ifdef WIDE\n#endif\n" + kernel);
  const Outcome known = scratch.tunesmith(check);
  EXPECT_EQ(known.exit_code, 0) << known.out << known.err;
  // A header that might have declared it is told where a name is missing.
  write("#include \"mine.h\"\n" + twice("if (i < n) y[i] = mine(x[i]) * PART / PART;", compared));
  const Outcome needed = scratch.tunesmith(check);
  EXPECT_EQ(needed.exit_code, 1) << needed.out;
  EXPECT_THAT(needed.out + needed.err, HasSubstr("Left out of it, as it is not there: mine.h."));
}

// The file of an author is compiled for the host and by NVRTC as it stands.
TEST_F(UserKernelTest, HostCodeIsLeftOut) {
  const std::string before =
      "#include <iostream>\n#include <vector>\n#include <helper_cuda.h>\nusing namespace std;\n"
      "template <typename T> struct Timer { std::vector<T> times; void start(); };\n"
      "template <typename T> void Timer<T>::start() { times.clear(); }\ncublasHandle_t handle;\n"
      "std::ostream& operator<<(std::ostream& out, const float2& v) { return out << v.x; }\n"
      "__host__ __device__ inline float both(float x) { return 2 * x; }\n"
      "__global__ void textured(cudaTextureObject_t t) { asm(\"bar\"); }\n";
  const std::string behind =
      "int main() {\n  std::vector<float> x(10);\n  float *a, *b;\n  cudaMalloc(&a, 40);\n"
      "  twice<<<1, 64>>>(a, b, 10);\n  std::cout << both(1) << std::endl;\n}\n";
  write(before + twice("if (i < n) y[i] = both(x[i]) * PART / PART;", compared) + behind);
  const std::string check = "check twice.cu --random 0 --problem n=100 ";
  const Outcome host = scratch.tunesmith(check + "--device host");
  EXPECT_EQ(host.exit_code, 0) << host.out << host.err;
  EXPECT_THAT(host.err, HasSubstr("the kernel does not reach "));
  const Outcome compiled = scratch.tunesmith(check + "--target sm_90a");
  if (!has(compiled.out + compiled.err, "libnvrtc")) {
    EXPECT_EQ(compiled.exit_code, 0) << compiled.out << compiled.err;
  }

  // Lines of errors are the author's.
  const std::string broken =
      before + twice("if (i < n) y[i] = wrong(x[i]) * PART / PART;", compared) + behind;
  write(broken);
  const auto line = 1 + std::count(broken.begin(),
                                   broken.begin() + static_cast<std::ptrdiff_t>(broken.find("wrong")), '\n');
  EXPECT_THAT(scratch.tunesmith(check + "--device host").err,
              HasSubstr("twice.cu:" + std::to_string(line) + ":"));
}

// An axis that only host code names would tune nothing.
TEST_F(UserKernelTest, AnAxisOfHostCodeIsRefused) {
  write(twice("if (i < n) y[i] = 2 * x[i];", compared) + "int main() { return PART; }\n");
  const Outcome refused = scratch.tunesmith("space twice.cu");
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("The axis PART occurs in no code that the kernel reaches in twice.cu"));
}

TEST_F(UserKernelTest, ADescriptionIsWrittenOfTheFile) {
  const std::string program =
      "#include <cstdio>\n__global__ void twice(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n"
      "int main() {\n  int n = 5000;\n  float *x, *y;\n  cudaMalloc(&x, n * sizeof(float));\n"
      "  cudaMalloc(&y, n * sizeof(float));\n  twice<<<(n + 255) / 256, 256>>>(x, y, n);\n}\n";
  write(program);
  const Outcome shown = scratch.tunesmith("describe twice.cu");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("n = [1, 5000]\n"));
  EXPECT_THAT(shown.out, HasSubstr("grid = [\"ceil_div(n, BLOCK)\"]\nblock = [\"BLOCK\"]\n"));
  EXPECT_EQ(scratch.tunesmith("describe twice.cu -o twice.toml").exit_code, 0);
  EXPECT_EQ(scratch.tunesmith("space twice.cu").exit_code, 0);
  const Outcome checked = scratch.tunesmith("check twice.cu --device host --random 1 --problem n=300");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  const Outcome again = scratch.tunesmith("describe twice.cu -o twice.toml");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("The file twice.toml exists; describe does not overwrite descriptions."));

  std::filesystem::remove(scratch.path() / "twice.toml");
  write(
      "__global__ void twice(const float* x, float* y, int n, int m) { y[n * threadIdx.x + m] = "
      "x[blockDim.x]; }\n");
  EXPECT_EQ(scratch.tunesmith("describe twice.cu -o twice.toml").exit_code, 0);
  const Outcome open = scratch.tunesmith("space twice.cu");
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_THAT(open.err, HasSubstr("The description leaves open arrays.x (line "));
  EXPECT_EQ(scratch.tunesmith("describe twice.cu --kernel other").exit_code, 2);
}

// Guarded includes in any spelling are left out, and for NVRTC too.
TEST_F(UserKernelTest, WhatIsGuardedIsNotIncluded) {
  std::string text;
  for (const char* guard :
       {"#ifndef TUNESMITH", "#if !defined(TUNESMITH)", "#if 0", "#ifdef NOBODY_DEFINES_THIS",
        "#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)", "#ifdef TUNESMITH\n#else",
        "#if PART > 0 && !TUNESMITH"})
    text += std::string(guard) + "\n#include <iostream>\n#include <cublas_v2.h>\n#include \"mine.h\"\n" +
            "void report() { std::cout << 1; }\n__global__ void twice(int) {}\n#endif\n";
  write(text + twice("if (i < n) y[i] = 2 * x[i] * PART / PART;", compared));
  const std::string check = "check twice.cu --random 0 --problem n=100 ";
  const Outcome host = scratch.tunesmith(check + "--device host");
  EXPECT_EQ(host.exit_code, 0) << host.out << host.err;
  const Outcome compiled = scratch.tunesmith(check + "--target sm_90a");
  if (has(compiled.out + compiled.err, "libnvrtc")) GTEST_SKIP() << "there is no NVRTC here";
  EXPECT_EQ(compiled.exit_code, 0) << compiled.out << compiled.err;
}

// A sum of numbers that cancel; its additions are in any order.
std::string atomic_sum(const std::string& body, const std::string& description = "") {
  return "/* tunesmith\nname = \"twice\"\nkernel = \"sum\"\n" + description +
         "[problem]\nn = [1, 100000]\n[arrays]\nx = [\"n\"]\ny = { extents = [1], role = \"inout\", values = "
         "[0, "
         "0] }\n[axes]\nBLOCK = [128]\n[launch]\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n"
         "[reference]\nkernel = \"plain\"\ngrid = 1\nblock = 1\n*/\n"
         "__global__ void sum(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  " +
         body +
         "\n}\n__global__ void plain(const float* x, float* y, int n) {\n"
         "  double s = 0;\n  for (int i = 0; i < n; ++i) s += x[i];\n  *y = s;\n}\n";
}

TEST_F(UserKernelTest, TheOrderOfAtomicAdditionsIsNoFault) {
  const std::string check = "check twice.cu --device host --random 0 --problem n=3000";
  const std::string adds = "if (i < n) atomicAdd(y, x[i]);";
  for (const char* description : {"", "tolerance = 0.1\n"}) {
    write(atomic_sum(adds, description));
    const Outcome right = scratch.tunesmith(check);
    EXPECT_EQ(right.exit_code, 0) << description << right.out << right.err;
  }
  // A tolerance that is too small for any order must not be blamed on a barrier.
  write(atomic_sum(adds, "tolerance = { relative = 1e-9, absolute = 1e-9 }\n"));
  const Outcome strict = scratch.tunesmith(check);
  EXPECT_EQ(strict.exit_code, 1) << strict.out;
  EXPECT_THAT(strict.out, HasSubstr("The order of additions alone moves y[0] by "));
  EXPECT_THAT(strict.out, HasSubstr("give tolerance.absolute"));
  EXPECT_THAT(strict.out, Not(HasSubstr("barrier")));
  // Real faults are still found: an element left out, an update that is lost, an order that matters.
  for (const char* wrong :
       {"if (i < n - 1 || i == 0) atomicAdd(y, x[i]);", "if (i < n) *y += x[i];",
        "__shared__ float s[128]; s[BLOCK - 1 - threadIdx.x] = i < n ? x[i] : 0; if (i < n) atomicAdd(y, "
        "s[threadIdx.x]);"}) {
    write(atomic_sum(wrong));
    const Outcome found = scratch.tunesmith(check);
    EXPECT_EQ(found.exit_code, 1) << wrong << found.out;
    EXPECT_THAT(found.out, HasSubstr("wrong_result")) << wrong << found.out;
    EXPECT_THAT(found.out, Not(HasSubstr("The order of additions alone"))) << wrong << found.out;
  }
}

TEST_F(UserKernelTest, WhatOutlivesALaunchIsNamed) {
  std::string text = atomic_sum("if (i == 0) *y = atomicAdd(&launches, 1) + 0 * x[0];");
  write(text.replace(text.find("__global__ void sum"), 0, "__device__ int launches;\n"));
  const Outcome counted = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=300");
  EXPECT_EQ(counted.exit_code, 1) << counted.out;
  EXPECT_THAT(counted.out, HasSubstr("It differs from launch to launch"));
}

// A variant that was right by another tolerance, reference or input is judged again.
TEST_F(UserKernelTest, AnOldVerdictDoesNotOutliveAStricterTest) {
  const std::string nearly = "if (i < n) y[i] = (BLOCK == 64 ? 2.0f : 2.001f) * x[i];";
  const std::string loose = "tolerance = 0.01\n";
  const auto with = [&](const std::string& first, const std::string& more = compared) {
    std::string text = twice(nearly, more);
    text.replace(text.find("64, 32]\nPART = [1, 2]"), 21, "64, 32]");
    write(text.replace(text.find("[problem]"), 0, first));
  };
  const std::string all = tune + "--budget all", near = "explain twice.cu --device host --problem n=1000";
  with(loose);
  EXPECT_THAT(scratch.tunesmith(all).out, HasSubstr("ok 2; 2 measured"));
  with("# " + loose + loose + "examples = [\"n=7\"]\n");
  EXPECT_THAT(scratch.tunesmith(all).out, HasSubstr("1 known before"))
      << "nothing of it decides what is right";
  EXPECT_THAT(scratch.tunesmith(near).out, HasSubstr("match: exact"));
  with("tolerance = 1e-4\n");
  const Outcome before = scratch.tunesmith(near);
  EXPECT_THAT(before.out, Not(HasSubstr("match: exact")));
  const Outcome strict = scratch.tunesmith(all);
  EXPECT_THAT(strict.out, HasSubstr("ok 1 wrong_result 1; 2 measured")) << strict.out << strict.err;
  const Outcome after = scratch.tunesmith(near);
  EXPECT_TRUE(has(after.out, "match: exact") && has(after.out, "BLOCK=64")) << after.out;
}

// The reference's double is larger than f16 can hold.
TEST_F(UserKernelTest, ExpectedValuesOf16BitsAreRounded) {
  std::string text = twice("if (i < n) y[i] = __float2half(2 * __half2float(x[i]) * PART / PART);");
  text.replace(text.find("[\"n\"]"), 5, "{ extents = [\"n\"], values = [-60000, 60000] }");
  for (std::size_t at = 0; (at = text.find("float* ", at)) != std::string::npos;)
    text.replace(at, 5, "__half");
  write("#include <cuda_fp16.h>\n" + text);
  const Outcome checked = scratch.tunesmith(
      "check twice.cu --device host --random 0 --problem n=1000 --reference " TUNESMITH_REFERENCE);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

TEST_F(UserKernelTest, NumbersOf16BitsRunOnTheHost) {
  for (const auto& [header, type, name, pair] :
       {std::array<std::string, 4>{"cuda_fp16.h", "__half", "half", "half2"},
        std::array<std::string, 4>{"cuda_bf16.h", "__nv_bfloat16", "bfloat16", "bfloat162"}}) {
    std::string text =
        twice("if (i < n) y[i] = PART == 2 ? __low2" + name + "(__hmul2(__" + name + "2" + pair +
                  "(x[i]), __float2" + pair + "_rn(2))) : __hfma(x[i], " + type + "(1), x[i]);",
              compared);
    text.replace(text.find("name = "), 0, "tolerance = 0\n");
    for (std::size_t at = 0; (at = text.find("float*", at)) != std::string::npos;) text.replace(at, 5, type);
    write("#include <" + header + ">\n" + text);
    const Outcome checked = scratch.tunesmith("check twice.cu --device host --random 0 --problem n=1000");
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("3 variants are right on 1 problem and"))
        << checked.out << checked.err;
  }
}

TEST_F(UserKernelTest, IncludesOfItsFolderAndADescriptionBesideIt) {
  const std::string text = twice("if (i < n) y[i] = doubled(x[i]) * PART / PART;", compared);
  const std::size_t begin = std::string("/* tunesmith").size();
  const std::size_t end = text.find("*/");
  std::ofstream(scratch.path() / "twice.toml") << text.substr(begin, end - begin);
  std::ofstream(scratch.path() / "inner.cuh")
      << "#pragma once\n#ifdef MINE\nconstexpr float two = 2;\n#endif\n";
  std::ofstream(scratch.path() / "helper.cuh")
      << "#pragma once\n#include \"inner.cuh\"\n__device__ float doubled(float x) { return two * x; }\n";
  write(
      "#ifdef NOBODY\n#include \"inner.cuh\"\n#endif\n#define MINE\n"
      "#include \"helper.cuh\"\n#include \"inner.cuh\"\n#ifndef TUNESMITH\n#include \"nowhere.h\"\n#endif\n" +
      text.substr(end + 2));
  const Outcome tuned = scratch.tunesmith(tune + "--budget all");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("ok 4; 4 measured")) << tuned.out << tuned.err;
}

TEST_F(UserKernelTest, IncludesFilesBesideThoseThatIncludeThem) {
  const std::filesystem::path own = scratch.path() / "own", shared = scratch.path() / "shared";
  std::filesystem::create_directories(own / "parts");
  std::filesystem::create_directory(shared);
  std::ofstream(shared / "two.h") << "#include \"number.h\"\n#define TWO NUMBER\n";
  std::ofstream(shared / "number.h") << "#define NUMBER 2\n";
  std::ofstream(own / "parts" / "doubled.cuh")
      << "#include \"inner.cuh\"\n__device__ float doubled(float x) { return inner(x); }\n";
  std::ofstream(own / "parts" / "inner.cuh") << "__device__ float inner(float x) { return TWO * x; }\n";
  const auto write_own = [&](const std::string& more) {
    std::ofstream(own / "twice.cuh") << "#include \"../shared/two.h\"\n#include \"parts/doubled.cuh\"\n"
                                     << more
                                     << twice("if (i < n) y[i] = doubled(x[i]) * PART / PART;", compared);
  };
  write_own("");
  const std::string check = "check own/twice.cuh --device host --random 0 --problem n=70";
  const Outcome right = scratch.tunesmith(check);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Outcome exported = scratch.tunesmith("export own/twice.cuh --to shipped");
  EXPECT_THAT(exported.err, HasSubstr("includes ../shared/two.h from outside its folder"));
  std::ofstream(own / "number.h") << "#define NUMBER 3\n";
  write_own("#include \"number.h\"\n");
  const Outcome two = scratch.tunesmith(check);
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("own/twice.cuh includes two files as \"number.h\": "));
}

TEST_F(UserKernelTest, WrongRequestsAreSentences) {
  EXPECT_EQ(scratch.tunesmith("space nowhere.cu").exit_code, 2);
  EXPECT_THAT(scratch.tunesmith("space nowhere.cu").err, HasSubstr("The file nowhere.cu cannot be read"));
  std::string text = twice("y[i] = BLOCK * PART;");
  text.replace(text.find("\"twice\""), 7, "\"conv2d\"");
  write(text);
  const Outcome taken = scratch.tunesmith("space twice.cu");
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.err, HasSubstr("twice.cu describes an op conv2d, which is one of Tunesmith's own"));
}

struct Example {
  const char* name;
  const char* problem;
};
void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

// The other examples are tuned by the pages that show them (README.md, docs/from_kernel_tuner.md).
class UserKernelExample : public testing::TestWithParam<Example> {};

TEST_P(UserKernelExample, IsTunedOnTheHost) {
  const Scratch scratch;
  const std::string file = examples + "/" + GetParam().name + ".cu";
  EXPECT_EQ(scratch.tunesmith("space " + file).exit_code, 0);
  const Outcome tuned = scratch.tunesmith("tune " + file + " --device host --budget 3 --problem \"" +
                                          GetParam().problem + "\"");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("ok 3;")) << "nothing is wrong\n" << tuned.out;
}

INSTANTIATE_TEST_SUITE_P(Examples, UserKernelExample,
                         testing::Values(Example{"stencil", "height=40 width=70 R=1"},
                                         Example{"total", "n=5000"}, Example{"heat", "n=1500 steps=20"}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(UserKernelInAnApplication, AnswersFromTheDatabase) {
  const Scratch scratch;
  const std::string run = TUNESMITH_USER_KERNEL " " + examples + "/softmax_rows.cu --device host";
  const Outcome before = scratch.shell(run);
  EXPECT_EQ(before.exit_code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr(": base, "));
  const Outcome tuned = scratch.tunesmith(
      "tune " + examples + "/softmax_rows.cu --device host --budget 2 --problem 'rows=64 cols=1000'");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const Outcome after = scratch.shell(run);
  EXPECT_EQ(after.exit_code, 0) << after.err;
  EXPECT_THAT(after.out, HasSubstr(": exact, "));
}

// A script that calls Kernel Tuner is read, and its kernel's .cu is made and checked.
TEST_F(UserKernelTest, AScriptOfKernelTunerIsDescribed) {
  std::ofstream(scratch.path() / "add.py") << R"py(
import numpy as np
from kernel_tuner import tune_kernel

kernel = """
__global__ void add(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.x * block_size_x * PER + threadIdx.x;
  for (int k = 0; k < PER; ++k, i += block_size_x)
    if (i < n) c[i] = a[i] + b[i];
}
"""

def is_wanted(config):
    """Whole warps."""
    threads = config["block_size_x"]
    if threads * config["PER"] > 256:
        return False
    return threads % 32 == 0 or config["PER"] == 1

def tune():
    size = 1000
    a, b = np.random.randn(size).astype(np.float32), np.random.randn(size).astype(np.float32)
    params = dict(block_size_x=[32 * i for i in range(1, 5)])
    params["PER"] = [1, 2]
    tune_kernel("add", kernel, size, [np.zeros_like(a), a, b, np.int32(size)], params,
                grid_div_x=["block_size_x", "PER"], answer=[a + b, None, None, None],
                restrictions=["block_size_x * PER <= 128 or PER == 1", "block_size_x / PER >= 16.0", is_wanted],
                metrics={"GB/s": lambda p: 12 * size / 1e9 / (p["time"] / 1000)})

if __name__ == "__main__":
    tune()
)py";
  const Outcome made = scratch.tunesmith("describe add.py --from kernel_tuner -o twice.cu");
  ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  const Outcome shown = scratch.shell("cat twice.cu");
  for (const char* part :
       {"n = { usual = [1, 1000], default = 1000 }", "c = { extents = [\"n\"], role = \"output\" }",
        "block_size_x = [128, 32, 64, 96]", "\"block_size_x * PER <= 128 || PER == 1\"",
        "\"block_size_x >= 16 * PER\", \"!(block_size_x * PER > 256) && (block_size_x % 32 == 0 || PER == "
        "1)\"]",
        "grid = [\"ceil_div(n, block_size_x * PER)\"]", "gb_per_s = "})
    EXPECT_THAT(shown.out, HasSubstr(part));
  const Outcome checked = scratch.tunesmith("check twice.cu --device host --random 1 --problem n=1000");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;

  // A kernel without a guard computes whole blocks.
  std::ofstream(scratch.path() / "whole.py") << R"py(
import numpy as np
from kernel_tuner import tune_kernel

kernel = """
__global__ void twice(float *y, const float *x, int h, int w) {
  int i = (blockIdx.y * TY + threadIdx.y) * w + blockIdx.x * TX + threadIdx.x;
  for (int k = 0; k < PER; ++k) y[i + k * (TX / PER)] = 2 * x[i + k * (TX / PER)];
}
"""
height, width = 256, 512
x = np.random.randn(height, width).astype(np.float32)
tune_kernel("twice", kernel, (width, height), [np.zeros_like(x), x, np.int32(height), np.int32(width)],
            {"TX": [32, 64], "TY": [4, 8], "PER": [1]}, block_size_names=["TX", "TY"], grid_div_y=["TY"])
)py";
  const Outcome whole = scratch.tunesmith("describe whole.py --from kernel_tuner");
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("must = [\"w % TX == 0\", \"h % TY == 0\"]"));

  std::ofstream(scratch.path() / "none.py") << "print(1)\n";
  const Outcome none = scratch.tunesmith("describe none.py --from kernel_tuner");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("none.py has no call of tune_kernel()"));
}

// Wider accesses than the array's type need a promise of callers.
TEST_F(UserKernelTest, AMisalignedAccessNamesThePromise) {
  const std::string kernel =
      "[problem]\npairs = [1, 1000]\n[arrays]\nx = [\"2 * pairs\"]\ny = { extents = [\"2 * pairs\"], role = "
      "\"output\" }\n"
      "[axes]\nBLOCK = [64]\n[launch]\ngrid = \"ceil_div(pairs, BLOCK)\"\nblock = \"BLOCK\"\n*/\n"
      "__global__ void twice(const float* x, float* y, int pairs) {\n"
      "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
      "  if (i < pairs) reinterpret_cast<float2*>(y)[i] = reinterpret_cast<const float2*>(x)[i];\n}\n";
  const std::string check = "check twice.cu --device host --random 0 --problem pairs=30";
  write("/* tunesmith\n" + kernel);
  const Outcome wrong = scratch.tunesmith(check);
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("say alignment_bytes = \"8\" in the description"));
  write("/* tunesmith\nalignment_bytes = \"8\"\n" + kernel);
  const Outcome right = scratch.tunesmith(check);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
}

// Each block waits for the one before it: right if blocks start in order, as GPUs start them today.
TEST_F(UserKernelTest, ABlockThatWaitsForAnotherIsSaidSo) {
  const std::string kernel =
      "kernel = \"chain\"\nzeroed = [\"flags\"]\n[problem]\nn = [1, 100000]\n[arrays]\nx = [\"n\"]\n"
      "y = { extents = [\"n\"], role = \"output\" }\n"
      "flags = { extents = [\"ceil_div(n, BLOCK)\"], dtype = \"i32\", role = \"workspace\" }\n"
      "[axes]\nBLOCK = [64]\n[launch]\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n*/\n"
      "__global__ void chain(const float* x, float* y, volatile int* flags, int n) {\n"
      "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
      "  if (threadIdx.x == 0 && blockIdx.x > 0) while (flags[blockIdx.x - 1] == 0) {}\n  __syncthreads();\n"
      "  if (i < n) y[i] = x[i];\n  __threadfence();\n  __syncthreads();\n"
      "  if (threadIdx.x == 0) flags[blockIdx.x] = 1;\n}\n";
  const std::string check = "check twice.cu --device host --random 0 --problem n=300";
  write("/* tunesmith\n" + kernel);
  const Outcome waits = scratch.tunesmith(check);
  EXPECT_EQ(waits.exit_code, 1) << waits.out;
  EXPECT_THAT(waits.out + waits.err, HasSubstr("say blocks_in_order = true in the description"));
  write("/* tunesmith\nblocks_in_order = true\n" + kernel);
  const Outcome right = scratch.tunesmith(check);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  write("/* tunesmith\nblocks_in_order = 1\n" + kernel);
  const Outcome refused = scratch.tunesmith(check);
  EXPECT_THAT(refused.err, HasSubstr("blocks_in_order is 1; give true or false."));
}

// An axis of types: the application's array stays f32, the kernel gets it as the axis says.
TEST_F(UserKernelTest, PrecisionMayBeAnAxis) {
  const std::string kernel =
      "[problem]\nn = [1, 100000]\n[arrays]\nx = { extents = [\"n\"], dtype = \"T\" }\n"
      "half = { extents = [\"n\"], role = \"workspace\" }\ny = { extents = [\"n\"], role = \"output\" }\n"
      "[axes]\nT = [\"f32\", \"f16\", \"bf16\", \"f64\"]\nBLOCK = [64, 128]\n[rules]\nworth = \"T != "
      "'f64'\"\n"
      "[metrics]\nwidth = { value = \"BLOCK\", better = \"larger\" }\n"
      "[[launch]]\nkernel = \"halved\"\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n"
      "[[launch]]\nkernel = \"scaled\"\narguments = [\"half\", \"y\", 3, \"n\"]\n"
      "grid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n[reference]\nkernel = \"plain\"\n*/\n"
      "#define T float\n"
      "__global__ void halved(const T* x, T* half, int n) {\n"
      "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) half[i] = T(0.5f * float(x[i]));\n}\n"
      "template <typename T>\n__global__ void scaled(const T* half, T* y, float a, int n) {\n"
      "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) y[i] = T(a * float(half[i]));\n}\n"
      "__global__ void plain(const float* x, float* y, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 1.5f * x[i];\n}\n";
  write("/* tunesmith\nname = \"twice\"\n" + kernel);
  const Outcome tuned = scratch.tunesmith(tune + "--budget all");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const std::string ok = scratch.tunesmith("query twice --verdict ok --format csv").out;
  for (const char* config : {"T=f32 BLOCK=64", "T=f16 BLOCK=128", "T=bf16 BLOCK=64", "T=f64 BLOCK=64"})
    EXPECT_THAT(ok, HasSubstr(config));
  const Outcome set = scratch.tunesmith("query twice.cu --pareto error");
  EXPECT_THAT(set.out, testing::ContainsRegex("median us +error +template +config"));
  EXPECT_THAT(set.out, testing::ContainsRegex("T=f(32|64)")) << "one of them has the smallest error";
  const Outcome widest = scratch.tunesmith("query twice.cu --pareto width --format csv");
  EXPECT_THAT(widest.out, HasSubstr("BLOCK=128"));
  EXPECT_THAT(scratch.tunesmith("query twice.cu --pareto depth").err,
              HasSubstr("--pareto is \"depth\"; it may be energy_uj, error, registers, width."));

  write("/* tunesmith\nname = \"twice\"\ntolerance = 1e-6\n" + kernel);
  const Outcome strict = scratch.tunesmith("check twice.cu --device host --random 3 --problem n=1000");
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_THAT(strict.out, HasSubstr("T=f16"));

  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = "/* tunesmith\nname = \"twice\"\n" + kernel;
    text.replace(text.find(from), from.size(), to);
    write(text);
    return scratch.tunesmith("check twice.cu --device host --random 0 --problem n=100").err;
  };
  EXPECT_THAT(refused("\"f64\"]", "\"f63\"]"),
              HasSubstr("The axis T has the value \"f63\"; an axis of types has"));
  EXPECT_THAT(refused("\"f64\"]", "64]"),
              HasSubstr("The axis T has types and numbers; give values of one kind."));
  EXPECT_THAT(refused("const T* x, T* half", "const float* x, T* half"),
              HasSubstr("The array x has the dtype T, but the kernel takes it as float*"));
  EXPECT_THAT(refused("better = \"larger\"", "better = \"more\""),
              HasSubstr("better is \"more\"; give \"smaller\" or \"larger\"."));
}

// A value that one lane has looked at before an atomic operation, another one may have changed.
TEST_F(UserKernelTest, AtomicOperationsThatLookBeforeAreFound) {
  const auto check = [&](const std::string& body) {
    write(
        "/* tunesmith\nname = \"twice\"\n[problem]\nn = [1, 100000]\nbins = [1, 1000]\n[arrays]\n"
        "x = { extents = [\"n\"], values = \"index(bins)\" }\n"
        "seen = { extents = [\"bins\"], role = \"inout\", dtype = \"i32\", values = \"equal(0)\" }\n"
        "count = { extents = [1], role = \"inout\", dtype = \"i32\", values = \"equal(0)\" }\n"
        "[axes]\nBLOCK = [64]\n[launch]\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n"
        "[reference]\nfunction = \"counted\"\n*/\n"
        "__global__ void distinct(const int* x, int* seen, int* count, int n) {\n"
        "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i >= n) return;\n  " +
        body +
        "\n}\nvoid counted(const int* x, int* seen, int* count, int n) {\n"
        "  for (int i = 0; i < n; ++i) if (!seen[x[i]]) { seen[x[i]] = 1; ++*count; }\n}\n");
    return scratch.tunesmith("check twice.cu --device host --random 0 --problem 'n=700 bins=90'");
  };
  const Outcome right = check("if (atomicExch(&seen[x[i]], 1) == 0) atomicAdd(count, 1);");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_EQ(check("if (seen[x[i]] == 0) { atomicExch(&seen[x[i]], 1); atomicAdd(count, 1); }").exit_code, 1);
  const Outcome again = check(
      "if (atomicExch(&seen[x[i]], 1) == 0)\n    for (int old = *count, was; ; old = was)\n"
      "      if ((was = atomicCAS(count, old, old + 1)) == old) break;");
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_EQ(
      check(
          "if (atomicExch(&seen[x[i]], 1) == 0) { const int old = *count; atomicCAS(count, old, old + 1); }")
          .exit_code,
      1);
}

TEST_F(UserKernelTest, AGridMayWaitForAllItsBlocks) {
  const auto check = [&](const std::string& wait, const std::string& header = "") {
    write(
        "/* tunesmith\nname = \"twice\"\n[problem]\nn = [1, 100000]\n[arrays]\nx = [\"n\"]\n"
        "part = { extents = [\"BLOCKS\"], role = \"workspace\" }\n"
        "y = { extents = [\"n\"], role = \"output\" }\n[axes]\nBLOCKS = [4, 1]\nBLOCK = [64]\n"
        "[launch]\ngrid = \"BLOCKS\"\nblock = \"BLOCK\"\n[reference]\nfunction = \"centred\"\n*/\n" +
        header +
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        "__global__ void centre(const float* x, float* part, float* y, int n) {\n"
        "  __shared__ float sums[BLOCK];\n  float sum = 0;\n"
        "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCKS * BLOCK) sum += x[i];\n"
        "  sums[threadIdx.x] = sum;\n  __syncthreads();\n"
        "  if (threadIdx.x == 0) {\n    for (int t = 1; t < BLOCK; ++t) sum += sums[t];\n"
        "    part[blockIdx.x] = sum;\n  }\n  " +
        wait +
        "\n  float all = 0;\n  for (int b = 0; b < BLOCKS; ++b) all += part[b];\n"
        "  sums[threadIdx.x] = all / n;\n  cg::this_grid().sync();\n"
        "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCKS * BLOCK) y[i] = x[i] - "
        "sums[threadIdx.x];\n}\n"
        "void centred(const float* x, float* y, int n) {\n  double all = 0;\n"
        "  for (int i = 0; i < n; ++i) all += x[i];\n  for (int i = 0; i < n; ++i) y[i] = x[i] - all / "
        "n;\n}\n");
    return scratch.tunesmith("check twice.cu --device host --random 0 --problem n=1000");
  };
  const Outcome right = check("cg::grid_group grid = cg::this_grid();\n  grid.sync();");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_EQ(check("__syncthreads();").exit_code, 1) << "blocks read the sums of others too early";
  const Outcome leaves = check("if (blockIdx.x == 1) return;\n  cg::this_grid().sync();");
  EXPECT_EQ(leaves.exit_code, 1);
  EXPECT_THAT(leaves.out, HasSubstr("grid.sync()"));
  const std::string counts =
      "cuda::atomic_ref<float, cuda::thread_scope_device> first(part[0]);\n  "
      "if (threadIdx.x == 0 && blockIdx.x > 0) first.fetch_add(0.0f);\n  ";
  const Outcome atomic = check(counts + "cg::this_grid().sync();", "#include <cuda/atomic>\n");
  EXPECT_EQ(atomic.exit_code, 1) << "the sum is stored by an ordinary store";
}

// A variable that a launch writes is no constant, and a size at which no loop ends may be large.
TEST_F(UserKernelTest, ConstantsAndLargeSizesAreChecked) {
  const std::string check = "check twice.cu --device host --random 0 --problem n=1000";
  write(twice("if (i < n) { y[i] = 2 * x[i]; if (i == 0 && PART == 2) y[i] = __ldg(&y[i]); }", compared));
  const Outcome constant = scratch.tunesmith(check);
  EXPECT_EQ(constant.exit_code, 1);
  EXPECT_THAT(constant.out, HasSubstr("__ldg() may find what was there before"));
  for (const auto& [type, code] :
       std::initializer_list<std::pair<const char*, int>>{{"unsigned short", 1}, {"int", 0}}) {
    write(twice("const " + std::string(type) +
                    " at = i;\n  float sum = 0;\n  for (int k = 0; k < 2 * PART; ++k) if (i < n) sum += "
                    "x[at] / PART;\n"
                    "  if (i < n) y[at] = sum;",
                compared));
    const Outcome checked = scratch.tunesmith(check);
    EXPECT_EQ(checked.exit_code, code) << type << checked.out << checked.err;
  }
}

}  // namespace
}  // namespace tunesmith
