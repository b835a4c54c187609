// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/static_build.h"
#include "tests/cli/run.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string problem = "--problem 'height=20 width=24 mask_height=3 mask_width=3' ";

struct Mistake {
  std::string arguments;
  std::string named;  // the sentence must mention it
  int exit_code = 2;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << "tunesmith " << mistake.arguments; }

class Complaints : public testing::TestWithParam<Mistake> {};

TEST_P(Complaints, AreOneClearSentence) {
  const Scratch scratch;
  const Outcome outcome = scratch.tunesmith(GetParam().arguments);
  EXPECT_EQ(outcome.exit_code, GetParam().exit_code);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("tunesmith: ", 0), 0U) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with(".\n") || outcome.err.ends_with("?\n")) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(Command, Complaints,
                         testing::Values(Mistake{"", "needs a command"},
                                         Mistake{"tuen", "There is no command tuen"},
                                         Mistake{"ops conv2d conv3d", "conv3d"},
                                         Mistake{"devices --fast", "--fast"}));

INSTANTIATE_TEST_SUITE_P(Look, Complaints,
                         testing::Values(Mistake{"ops conv9d", "the ops are "}, Mistake{"space", "OP"},
                                         Mistake{"space conv2d --problem 'height=-1'", "height is -1"},
                                         Mistake{"space conv2d --template magic", "no template magic"},
                                         Mistake{"space conv2d --device cuda:99", "no device cuda:99"},
                                         Mistake{"space conv2d --device gpu", "\"gpu\" is not a device"}));

INSTANTIATE_TEST_SUITE_P(
    Render, Complaints,
    testing::Values(
        Mistake{"render conv2d --target host", "--problem is required"},
        Mistake{"render conv2d " + problem, "--target is required"},
        Mistake{"render conv9d --target host " + problem, "conv9d"},
        Mistake{"render conv2d --target host --problem height", "not of the form name=value"},
        Mistake{"render conv2d --target host --problem 'height=3'", "has no width"},
        Mistake{"render conv2d --target host --problem 'height=3 height=4'", "given twice"},
        Mistake{"render conv2d --target host --problem 'hight=3'", "hight=3 is not a parameter"},
        Mistake{"render conv2d --target host --problem 'height=tall width=3 mask_height=3 mask_width=3'",
                "tall"},
        Mistake{"render conv2d --target host --config BLOCK_Q=3 " + problem, "BLOCK_Q is not an axis"},
        Mistake{"render conv2d --target host --config BLOCK_X=33 " + problem,
                "BLOCK_X=33 is not on its axis"},
        Mistake{"render conv2d --target host --template base --config 'BLOCK_X=128 BLOCK_Y=16' " + problem,
                "1024"},
        Mistake{"render conv2d --target host --template magic " + problem, "no template magic"},
        Mistake{"render conv2d --target sm_ " + problem, "no target sm_"},
        Mistake{"render conv2d --target sm_90x " + problem, "no target sm_90x"},
        Mistake{"render conv2d --target metal " + problem, "no target metal"},
        Mistake{"render conv2d --target host --all " + problem, "-o DIR"},
        Mistake{"render conv2d --target host -o missing/folder/x.cu " + problem,
                "missing/folder/x.cu cannot be written", 1},
        Mistake{"render conv2d --target host --all -o /dev/null/x " + problem,
                "/dev/null/x cannot be created", 1}));

INSTANTIATE_TEST_SUITE_P(
    Tune, Complaints,
    testing::Values(Mistake{"tune conv2d", "--problem"}, Mistake{"tune conv9d " + problem, "conv9d"},
                    Mistake{"tune conv2d --budget soon " + problem, "soon"},
                    Mistake{"tune conv2d --budget -3s " + problem, "-3s"},
                    Mistake{"tune conv2d --device cuda:99 " + problem, "cuda:99"},
                    Mistake{"tune conv2d --strategy clever " + problem, "clever"},
                    Mistake{"tune conv2d --seed x " + problem, "seed"},
                    Mistake{"tune conv2d --caches tepid " + problem, "tepid not in {warm,cold}"},
                    Mistake{"tune conv2d --launches close " + problem, "close not in {apart,chained}"},
                    Mistake{"tune conv2d --launches chained --caches cold " + problem, "cannot have cold"},
                    Mistake{"tune conv2d --device host --caches cold " + problem, "CUDA devices only"},
                    Mistake{"tune conv2d --objective edp --no-energy " + problem, "leave out --no-energy"},
                    Mistake{"tune conv2d --problems nowhere.txt", "nowhere.txt"},
                    Mistake{"tune --problems nowhere.txt " + problem, "--stale are for one op; name it"},
                    Mistake{"tune --device host", "or --problems with a file that names ops"},
                    Mistake{"tune conv2d --total 9 " + problem, "--total is 9, but it is a time"},
                    Mistake{"tune conv2d --shard '' " + problem, "\"\" is not a shard; give auto"},
                    Mistake{"tune conv2d --db '' " + problem, "the name is empty; give a file"},
                    Mistake{"query --db ''", "the name is empty; give a file"},
                    Mistake{"tune conv2d --until 0.5 " + problem, "give one such as 0.5%"},
                    Mistake{"tune conv2d --until 1% --strategy random " + problem, "use auto or model"},
                    Mistake{"tune conv2d --budget 60s,5m " + problem, "both with a comma between them"},
                    Mistake{"finals conv2d --device host --db typo.db", "There is no database typo.db"},
                    Mistake{"tune conv2d --device host --stale --db typo.db", "nothing to tune again"},
                    Mistake{"tune conv2d --problem 'height=3'", "has no width"},
                    Mistake{"tune conv2d --device host --budget 1 --db /dev/null/x.db " + problem,
                            "/dev/null", 1}));

// One complaint of each kind; the tests of each op have the rest.
INSTANTIATE_TEST_SUITE_P(
    Ops, Complaints,
    testing::Values(
        Mistake{"tune transpose --device host --problem 'height=0 width=5'", "launches no kernel"},
        Mistake{"tune transpose --problem 'height=3 width=5 input_pitch=4'", "input_pitch is 4"},
        Mistake{"tune transpose --problem 'height=3 width=5 dtype=f32'", "dtype is f32; allowed are b8, b16"},
        Mistake{"tune conv1d --problem 'length=5 taps=0'", "taps is 0; allowed are whole numbers from 1"},
        Mistake{"tune conv1d --problem 'length=99999999999999999999 taps=3'",
                "length is 99999999999999999999"},
        Mistake{"tune conv2d --problem 'height=2000000000 width=2000000000 mask_height=3 mask_width=3'",
                "2^40"},
        Mistake{"tune histogram --problem 'length=9 bins=4 lo=1 hi=1'", "lo=1 and hi=1; lo must be less"},
        Mistake{"tune reduce --problem 'length=9 function=product'",
                "function is product; allowed are sum, min"},
        Mistake{"tune reduce --device host --problem 'length=1099511627776'", "give a smaller problem"},
        Mistake{"tune elementwise --problem 'function=add shape=4x3 b=4'",
                "b is 4, which does not broadcast"},
        Mistake{"tune conv_covariance --problem 'channels_out=1 channels_in=1 height=3 width=3 mask_height=4 "
                "mask_width=1'",
                "mask_height is 4"}));

// A mistake in an expression is shown in its line.
TEST(Command, AnExpressionIsShownWithItsFault) {
  for (const char* command :
       {"tune elementwise", "space elementwise", "explain elementwise", "render elementwise --target host"}) {
    const Scratch scratch;
    const Outcome outcome = scratch.tunesmith(
        command + std::string(" --problem 'function=\"a); } extern \\\"C\\\" {\" shape=5'"));
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err,
                HasSubstr("At character 2: This ')' closes nothing.\n  a); } extern \"C\" {\n   ^\n"));
  }
}

// Misspelt words, one of each kind and at each level.
INSTANTIATE_TEST_SUITE_P(
    NearlyRight, Complaints,
    testing::Values(Mistake{"tnue conv2d " + problem, "There is no command tnue; the commands are "},
                    Mistake{"tnue", "Did you mean tune?"}, Mistake{"--hlp", "Did you mean --help?"},
                    Mistake{"db stat", "There is no command stat of \"tunesmith db\"; the commands are "},
                    Mistake{"db stat --db x.db", "Did you mean status?"},
                    Mistake{"db --hlp", "Did you mean --help?"},
                    Mistake{"db status --bd x.db", "Did you mean --db?"},
                    Mistake{"table lst", "Did you mean list?"}, Mistake{"query --al", "Did you mean --all?"},
                    Mistake{"tune conv2d --budgt=5 " + problem, "Did you mean --budget?"},
                    Mistake{"tune covn2d " + problem, "Did you mean conv2d?"},
                    Mistake{"space conv2d --problem 'hieght=3'", "Did you mean height?"},
                    Mistake{"space conv2d --template bsae", "Did you mean base?"},
                    Mistake{"space conv2d --device hots", "Did you mean host?"},
                    Mistake{"tune conv2d --device host --strategy modle " + problem, "Did you mean model?"},
                    Mistake{"render conv2d --target host --config BLOK_X=32 " + problem,
                            "Did you mean BLOCK_X?"},
                    Mistake{"derive 'y[i] = x[i]' --operations-per-byte nan", "\"nan\" is not a number"}));

INSTANTIATE_TEST_SUITE_P(Data, Complaints,
                         testing::Values(Mistake{"query conv9d", "conv9d"},
                                         Mistake{"query --format xml", "xml"},
                                         Mistake{"query --db nowhere.db", "nowhere.db", 1},
                                         Mistake{"explain conv2d", "--problem is required"},
                                         Mistake{"explain conv2d --problem height=3", "has no width"},
                                         Mistake{"export", "--to is required"},
                                         Mistake{"db", "\"tunesmith db\" needs a command: "},
                                         Mistake{"db status --db nowhere.db", "nowhere.db", 1},
                                         Mistake{"db load nowhere.sql", "nowhere.sql", 1},
                                         Mistake{"db merge out.db nowhere.db", "nowhere.db", 1}));

TEST(Command, HelpAndVersionSucceed) {
  const Scratch scratch;
  EXPECT_EQ(scratch.tunesmith("--version").out.rfind("tunesmith ", 0), 0U);
  for (const char* command : {"", "devices", "doctor", "ops", "space", "render", "tune", "finals", "table",
                              "query", "explain", "export", "db"}) {
    const Outcome outcome = scratch.tunesmith(std::string(command) + " --help");
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_THAT(outcome.out, HasSubstr("Usage:")) << command;
  }
}

// A help fits on a screen.
TEST(Command, AHelpFitsAScreen) {
  const Scratch scratch;
  for (const char* command : {"", "tune", "finals", "table", "table make", "table extend", "table fill",
                              "table list", "table remake", "check", "query", "db", "export", "regret"}) {
    const std::string help = scratch.tunesmith(std::string(command) + " --help").out;
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 40) << help;
  }
}

TEST(Command, OpsTellsEachTemplateUnderTheRightHeading) {
  const Scratch scratch;
  const Outcome outcome = scratch.tunesmith("ops conv2d");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::size_t heading = outcome.out.find("\ntemplate ") + 1;
  const std::size_t base = outcome.out.find("\nbase ", heading);
  ASSERT_NE(base, std::string::npos) << outcome.out;
  const std::size_t column = outcome.out.find("compiled in", heading) - heading;
  EXPECT_EQ(outcome.out.substr(base + 1 + column, 6), "dtype ") << outcome.out;
}

TEST(Command, DevicesAlwaysListsTheHost) {
  const Scratch scratch;
  const Outcome outcome = scratch.shell("CUDA_VISIBLE_DEVICES= " TUNESMITH_PROGRAM " devices");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nhost "));
  EXPECT_NE(outcome.out.find("CUDA", outcome.out.find("\nhost ")), std::string::npos)
      << "why there is no GPU\n"
      << outcome.out;
}

TEST(Command, EveryCommandReadsTheSameDevicesAndSaysTheSameOfThem) {
  const Scratch scratch;
  for (const auto& [device, named] :
       std::map<std::string, std::string>{{"gpu", "\"gpu\" is not a device; allowed are auto"},
                                          {"cuda", "There is no device cuda:0, only the host."},
                                          {"cuda:99", "There is no device cuda:99, only the host."}}) {
    std::set<std::string> sentences;
    for (const std::string& command :
         {"tune conv2d " + problem, "explain conv2d " + problem, "space conv2d " + problem}) {
      // `explain` takes a part of a name, so "gpu" names a device.
      if (device == "gpu" && command.starts_with("explain")) continue;
      const Outcome outcome =
          scratch.shell("CUDA_VISIBLE_DEVICES= " TUNESMITH_PROGRAM " " + command + "--device " + device);
      EXPECT_EQ(outcome.exit_code, 2) << command;
      EXPECT_THAT(outcome.err, HasSubstr(named));
      sentences.insert(outcome.err);
    }
    EXPECT_EQ(sentences.size(), 1U) << device;
    // These commands take a part of a name, so "gpu" names a device.
    if (device == "gpu") continue;
    for (const std::string command : {"query", "export --to generated"}) {
      sentences.insert(
          scratch.shell("CUDA_VISIBLE_DEVICES= " TUNESMITH_PROGRAM " " + command + " --device " + device)
              .err);
    }
    EXPECT_EQ(sentences.size(), 1U) << device;
  }
}

TEST(Command, ExplainAnswersForAGpuThatIsNotHere) {
  const Scratch scratch;
  const std::string explain = "CUDA_VISIBLE_DEVICES= " TUNESMITH_PROGRAM " explain conv2d " + problem;
  for (const char* device : {"'NVIDIA H200'", "h200"}) {
    const Outcome outcome = scratch.shell(explain + "--device " + device);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* words :
         {"on NVIDIA H200 (sm_90a)", "It would use, ", " us expected: conv2d/", "\nNext, "})
      EXPECT_THAT(outcome.out, HasSubstr(words)) << words << " is not in\n" << outcome.out;
    EXPECT_THAT(outcome.out, Not(HasSubstr("Not used")));
    EXPECT_LT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 14) << outcome.out;
  }
  const Outcome all = scratch.shell(explain + "--all --device h200");
  EXPECT_THAT(all.out, HasSubstr("Not used: "));
  const Outcome unknown = scratch.shell(explain + "--device sm_80");
  EXPECT_THAT(unknown.out, HasSubstr("on sm_80 (sm_80)\nmatch: other_device"));
  const Outcome none = scratch.shell(explain + "--device abacus");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err,
              HasSubstr("\"abacus\" in its name, or as its target; known are NVIDIA H200 (sm_90a, 132"));
  const Outcome several = scratch.shell(explain + "--device sm_90a");
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(
      several.err,
      HasSubstr("\"sm_90a\" may be NVIDIA H100 80GB HBM3 (sm_90a, 132 multiprocessors), NVIDIA H200"));
}

TEST(Command, SpaceShowsAxesRulesAndCounts) {
  const Scratch scratch;
  const Outcome outcome = scratch.tunesmith("space conv2d --device host " + problem);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part :
       {"BLOCK_X", "A legal config keeps these rules:", "legal configs of", "within the limits of"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part)) << part;
  }
}

TEST(Command, SpaceIsThatOfAnAbsentGpuToo) {
  const Scratch scratch;
  const Outcome outcome = scratch.tunesmith("space conv2d --multiprocessors 68 " + problem);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("within the limits of a GPU with 68 multiprocessors"));
  EXPECT_EQ(scratch.tunesmith("space conv2d --multiprocessors 68 --device host " + problem).exit_code, 2);
}

TEST(Command, RenderAllWritesAFileForEveryLegalConfig) {
  const Scratch scratch;
  const Outcome outcome =
      scratch.tunesmith("render conv2d --all --template base --target sm_80 -o all " + problem);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto files = std::distance(std::filesystem::directory_iterator(scratch.path() / "all"), {});
  EXPECT_EQ(outcome.out, std::to_string(files) + " files written to all\n");
  EXPECT_GT(files, 10);
}

TEST(Command, ReportIsHandedToPythonsPackage) {
  const Scratch scratch;
  const auto report = [&](const std::string& python, const std::string& last) {
    return scratch.shell("mkdir -p bin && printf '%s\\n' '#!/bin/sh' '" + python +
                         "' >bin/python3 && chmod +x bin/python3 && PATH=$PWD/bin " TUNESMITH_PROGRAM
                         " report --db 'a b.db' -o x.html " +
                         last);
  };
  const Outcome handed = report(R"([ "$1" = -c ] && exit 0; printf "<%s>" "$@"; exit 3)", "--help");
  EXPECT_EQ(handed.exit_code, 3) << handed.err;
  EXPECT_EQ(handed.out, "<-m><tunesmith><report><--db><a b.db><-o><x.html><--help>");

  const Outcome help = report("exit 1", "--help");  // a Python without the package
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("draw the database"));
  const Outcome without = report("exit 1", "");
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_EQ(without.out, "");
  EXPECT_THAT(without.err, HasSubstr("install it with"));
}

TEST(Command, OutputThatCannotBeWrittenIsAFailure) {
  const Scratch scratch;
  const Outcome outcome = scratch.tunesmith("ops >/dev/full");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("could not be written"));
}

// The names that a help lists between two headings, or after one.
std::vector<std::string> commands_of(const Scratch& scratch, const std::string& command) {
  std::vector<std::string> names;
  const std::string help = scratch.tunesmith(command + " --help").out;
  const std::size_t heading = help.find("Subcommands:");
  if (heading == std::string::npos) return names;
  std::istringstream lines(help.substr(heading));
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line) && line.starts_with("  ");) {
    std::istringstream words(line);
    std::string name;
    if (line[2] != ' ' && words >> name) names.push_back(name);
  }
  return names;
}

// Options that take a whole number, with their commands: "replay --lag".
std::vector<std::string> number_options(const Scratch& scratch, const std::string& command) {
  std::vector<std::string> options;
  std::istringstream lines(scratch.tunesmith(command + " --help").out);
  static const std::regex number(R"(^\s+(?:-\w,)?(--[\w-]+) U?INT\b.*)");
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, number)) options.push_back(command + " " + match[1].str());
  }
  for (const std::string& name : commands_of(scratch, command)) {
    if (name == "report" || name == "worker") continue;
    const auto more = number_options(scratch, command.empty() ? name : command + " " + name);
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

TEST(Command, EveryNumberThatIsNoneIsRefusedWithASentence) {
  const Scratch scratch;
  const std::vector<std::string> options = number_options(scratch, "");
  EXPECT_GE(options.size(), 12U);
  for (const char* known :
       {"replay --lag", "replay --repeats", "query --limit", "tune --seed", "check --random"})
    EXPECT_NE(std::find(options.begin(), options.end(), known), options.end()) << known;
  for (const std::string& option : options) {
    for (const char* value : {"-1", "99999999999999999999", "1.5", "1e3", "0x10", "x"}) {
      const Outcome outcome = scratch.tunesmith(option + "=" + value);
      EXPECT_EQ(outcome.exit_code, 2) << option << ' ' << value;
      EXPECT_THAT(outcome.err, HasSubstr("whole number")) << option << ' ' << value << ": " << outcome.err;
      EXPECT_LT(outcome.err.size(), 200U) << outcome.err;
    }
  }
  EXPECT_EQ(scratch.tunesmith("replay x.json --repeats 0").exit_code, 2);
}

const std::string hidden = "CUDA_VISIBLE_DEVICES= ";  // no GPU

// The state of a check and what is said of it, in the table that people get.
std::string line_of(const std::string& text, const std::string& check) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 8 && line.compare(8, check.size() + 1, check + ' ') == 0) return line;
  return "";
}

TEST(Doctor, SaysOkOrWhatToDo) {
  const Scratch scratch;
  std::filesystem::permissions(scratch.path(), std::filesystem::perms::owner_all);
  const Outcome outcome = scratch.shell(hidden + TUNESMITH_PROGRAM " doctor");
  EXPECT_THAT(outcome.out, HasSubstr("tunesmith "));
  for (const char* check : {"driver", "permissions", "NVRTC", "compiler", "kernels", "tables", "database",
                            "trust", "cache", "temporary files", "clocks"})
    EXPECT_NE(line_of(outcome.out, check), "") << check << " is not in\n" << outcome.out;
  EXPECT_THAT(line_of(outcome.out, "kernels"), HasSubstr("load on host"));
  EXPECT_THAT(line_of(outcome.out, "database"), HasSubstr("none yet"));
  if (line_of(outcome.out, "driver").starts_with("note")) {  // else this machine's own driver is hidden
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("Nothing is broken."));
  }
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "tunesmith.db")) << "it changes nothing";
}

TEST(Doctor, FindsWhatIsBroken) {
  const Scratch scratch;
  const std::string doctor = hidden + TUNESMITH_PROGRAM " doctor";
  Outcome outcome = scratch.shell("TMPDIR=/no/such/folder " + doctor);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_THAT(line_of(outcome.out, "temporary files"), HasSubstr("broken"));
  EXPECT_THAT(outcome.out, HasSubstr("broken: see above"));

  std::ofstream(scratch.path() / "tunesmith.db") << "this is no database, but a text of some length";
  outcome = scratch.shell(doctor);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(line_of(outcome.out, "database"), HasSubstr("broken"));

  std::filesystem::remove(scratch.path() / "tunesmith.db");
  const Outcome tuned =
      scratch.tunesmith("tune transpose --device host --budget 1 --problem 'height=9 width=7'");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(line_of(scratch.shell(doctor).out, "database"), HasSubstr("verdict"));
  std::filesystem::permissions(scratch.path() / "tunesmith.db", std::filesystem::perms::all);
  outcome = scratch.shell(doctor);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(line_of(outcome.out, "trust"), HasSubstr("others could change it"));

  outcome = scratch.shell("TUNESMITH_CXX=/no/such/compiler " + doctor);
  EXPECT_THAT(line_of(outcome.out, "compiler"), HasSubstr("note"));
}

TEST(Doctor, WritesJson) {
  const Scratch scratch;
  const Outcome outcome = scratch.shell(hidden + TUNESMITH_PROGRAM " doctor --json");
  EXPECT_THAT(outcome.out, HasSubstr("{\"check\": \"driver\", \"state\": \""));
  EXPECT_THAT(outcome.out, HasSubstr("\"check\": \"clocks\""));
  EXPECT_TRUE(outcome.out.starts_with("[") && outcome.out.ends_with("]\n")) << outcome.out;
}

TEST(Doctor, AsksNvidiaSmiForTheClocks) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "nvidia-smi") << "#!/bin/sh\necho '0, 345 MHz, 1980 MHz, Disabled'\n";
  std::filesystem::permissions(scratch.path() / "nvidia-smi", std::filesystem::perms::owner_all);
  const Outcome outcome =
      scratch.shell(hidden + "PATH=" + scratch.path().string() + ":$PATH " TUNESMITH_PROGRAM " doctor");
  EXPECT_THAT(line_of(outcome.out, "clocks"), HasSubstr("345 MHz, 1980 MHz"));
  EXPECT_THAT(line_of(outcome.out, "clocks"), HasSubstr("nvidia-smi -pm 1"));
}

// NVIDIA's Python package lies beside this one; the toolkit that CUDA_PATH names goes before it.
TEST(Doctor, NvrtcOfAPythonPackageIsFoundBesideThisOne) {
  const Scratch scratch;
  const std::string found = line_of(scratch.shell(TUNESMITH_PROGRAM " doctor").out, "NVRTC");
  const std::size_t at = found.find(", /");
  if (at == std::string::npos) GTEST_SKIP() << "There is no NVRTC here.";
  const std::filesystem::path file = std::filesystem::canonical(found.substr(at + 2));
  const std::filesystem::path package = scratch.path() / "nvidia" / "cu13" / "lib";
  std::filesystem::create_directories(package);
  std::filesystem::create_symlink(file, package / "libnvrtc.so.13");
  std::filesystem::create_directories(scratch.path() / "tunesmith");
  std::filesystem::copy_file(program_path, scratch.path() / "tunesmith" / "tunesmith");
  const std::string folder = std::filesystem::path(program_path).parent_path().parent_path().string();
  const std::string there =
      "LD_LIBRARY_PATH=" + folder + " " + (scratch.path() / "tunesmith" / "tunesmith").string() + " doctor";
  EXPECT_THAT(line_of(scratch.shell("unset CUDA_PATH CUDA_HOME; " + there).out, "NVRTC"),
              HasSubstr((package / "libnvrtc.so.13").string()));
}

// The output of `export --static` is compiled without other files of Tunesmith.
TEST(StaticExport, BringsEveryFileThatItsSourcesInclude) {
  const std::regex include("#include \"([^\"]+)\"");
  const auto is_there = [](const std::string& file) {
    if (file.starts_with("tunesmith/")) return true;  // public headers, found by include folders of their own
    return op_sources().contains(file) || library_sources().contains(file);
  };
  std::size_t found = 0;
  for (const auto& [path, text] : op_sources()) {
    for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at, ++found)
      EXPECT_TRUE(is_there((*at)[1])) << path << " includes " << (*at)[1];
  }
  EXPECT_GT(found, 200U);
}

}  // namespace
}  // namespace tunesmith
