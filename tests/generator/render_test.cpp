// SPDX-License-Identifier: Apache-2.0
#include "generator/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>

#include "generator/error.h"
#include "tests/generator/test_op.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

Source rendered(std::string_view template_name, std::string_view config, std::string_view target,
                std::string_view problem = "n=8") {
  const Op op = scale_op();
  const Template& tmpl = find_template(op, template_name);
  const Problem wanted = complete_problem(op, Problem::parse(problem));
  return render(op, tmpl, wanted, tmpl.space(wanted).legal(Values::parse(config)), target, scale_files());
}

bool has(const Source& source, std::string_view part) { return source.text.find(part) != std::string::npos; }

constexpr std::string_view config = "BLOCK=64 VECTOR=4 STORE_MODE=streaming";

TEST(Render, TheSameInputsGiveTheSameBytes) {
  const Source source = rendered("base", config, "sm_90a");
  EXPECT_EQ(source.text, rendered("base", config, "sm_90a").text);
  EXPECT_EQ(source.hash.size(), 64U);
  EXPECT_EQ(source.suffix.size(), 9U);
  EXPECT_EQ(source.target, "sm_90a");
}

TEST(Render, TheOrderOfTheConfigsNamesDoesNotChangeTheKernel) {
  EXPECT_EQ(rendered("base", "STORE_MODE=streaming VECTOR=4 BLOCK=64", "sm_90a").text,
            rendered("base", config, "sm_90a").text);
}

TEST(Render, EveryDifferenceChangesTheIdentity) {
  const Source source = rendered("base", config, "sm_90a");
  for (const Source& other : {rendered("base", "BLOCK=32 VECTOR=4 STORE_MODE=streaming", "sm_90a"),
                              rendered("fixed", config, "sm_90a"), rendered("base", config, "host"),
                              rendered("base", config, "sm_90a", "n=8 dtype=f64")}) {
    EXPECT_NE(source.hash, other.hash);
    EXPECT_NE(source.suffix, other.suffix);
  }
  EXPECT_EQ(source.hash, rendered("base", config, "sm_90a", "n=16 factor=3").hash)
      << "what is not compiled in does not matter";
}

TEST(Render, IncludesTheTypeOfSixteenBitsThatIsCompiledIn) {
  Op op = scale_op();
  op.parameters.back().categories = {"f32", "f16", "bf16"};
  Files files = scale_files();
  files["common/float16.cuh"] = "#pragma once\nstruct Float16 {};\nstruct BFloat16 {};\n";
  files["scale/base.cu"] += "#include \"common/float16.cuh\"\n";
  const auto text_of = [&](std::string_view dtype, std::string_view template_name, std::string_view target) {
    const Problem problem = complete_problem(op, Problem::parse("n=8 dtype=" + std::string(dtype)));
    const Template& tmpl = find_template(op, template_name);
    return render(op, tmpl, problem, tmpl.space(problem).legal(Values::parse(config)), target, files).text;
  };
  for (const char* target : {"sm_90a", "host"}) {
    for (const char* template_name : {"base", "fixed"}) {  // one includes it itself, the other does not
      const std::string half = text_of("f16", template_name, target);
      const std::size_t defined = half.find("struct Float16 {};");
      EXPECT_LT(defined, half.find("using T = Float16;  // dtype=f16\n"));
      EXPECT_EQ(half.find("struct Float16 {};", defined + 1), std::string::npos) << "once";
      EXPECT_THAT(text_of("bf16", template_name, target), HasSubstr("using T = BFloat16;  // dtype=bf16\n"));
    }
    EXPECT_THAT(text_of("f32", "fixed", target), Not(HasSubstr("struct Float16")));
  }
}

TEST(Render, WritesThePreamble) {
  const Source source = rendered("fixed", config, "sm_90a", "n=8 factor=-3");
  EXPECT_TRUE(has(source, "using T = float;  // dtype=f32\n"));
  EXPECT_TRUE(has(source, "constexpr int factor = -3;\n"));
  EXPECT_TRUE(has(
      source, "enum class Rounding { nearest, down };\nconstexpr Rounding rounding = Rounding::nearest;\n"));
  EXPECT_TRUE(has(source, "constexpr int BLOCK = 64;\n"));
  EXPECT_TRUE(has(source,
                  "enum class StoreMode { plain, streaming };\nconstexpr StoreMode STORE_MODE = "
                  "StoreMode::streaming;\n"));
  EXPECT_TRUE(has(source, "#define ENTRY(name) name##" + source.suffix + "\n"));
  EXPECT_FALSE(has(rendered("base", config, "sm_90a"), "factor"));
}

TEST(Render, WritesWhatFollowsFromTheProblem) {
  Op op = scale_op();
  Parameter formula{.name = "formula", .what = "", .categories = {"twice"}, .initial = "twice"};
  formula.refuses_text = [](const std::string&) { return std::string(); };
  op.parameters.push_back(formula);
  op.templates[0].compiled_in = {"dtype", "formula"};
  op.templates[0].constants = [](const Problem& problem) {
    return Values{{"QUARTERS", problem.integer("n") / 4}};
  };
  op.preamble = [](const Problem& problem) { return "// generated for " + problem.string("formula") + "\n"; };
  const auto text = [&](const char* given) {
    const Problem problem = complete_problem(op, Problem::parse(given));
    const Config chosen = op.templates[0].space(problem).legal(Values::parse(config));
    return render(op, op.templates[0], problem, chosen, "sm_90a", scale_files()).text;
  };
  const std::string source = text("n=8 formula=x+1");
  EXPECT_THAT(source, HasSubstr("constexpr int QUARTERS = 2;\n"));
  EXPECT_THAT(source, Not(HasSubstr("Formula"))) << "a text is no enumeration";
  EXPECT_LT(source.find("// generated for x+1\n"), source.find("#define ENTRY"));
  EXPECT_NE(source, text("n=16 formula=x+1"));
  EXPECT_NE(source, text("n=8 formula=x+2"));
}

TEST(Render, WritesWhatFollowsFromTheConfig) {
  Op op = scale_op();
  Template& tmpl = op.templates[0];
  tmpl.kernels = {"first", "second"};
  tmpl.generated = [](const Problem&, const Config& c) {
    return "extern \"C\" __global__ void ENTRY(first)() {}  // of " + c.text() + "\n";
  };
  Files files = scale_files();
  files["scale/base.cu"] = "constexpr int before = 1;\n#include \"generated\"\nconstexpr int behind = 1;\n";
  const auto made = [&](const std::string& target) {
    const Problem problem = complete_problem(op, Problem::parse("n=8"));
    return render(op, tmpl, problem, tmpl.space(problem).legal(Values::parse(config)), target, files);
  };
  const Source source = made("host");
  EXPECT_LT(source.text.find("int before"), source.text.find("ENTRY(first)() {}  // of "));
  EXPECT_LT(source.text.find("ENTRY(first)() {}  // of "), source.text.find("int behind"));
  EXPECT_FALSE(has(source, "#include \"generated\""));
  EXPECT_EQ(source.kernels, std::vector<std::string>{"first"}) << "the others are not in the text";
  EXPECT_FALSE(has(source, "TUNESMITH_HOST_ENTRY(second"));
  const std::string hash = source.hash;
  tmpl.generated = [](const Problem&, const Config&) {
    return "extern \"C\" __global__ void ENTRY(first)(int) {}\n";
  };
  EXPECT_NE(made("host").hash, hash);
}

TEST(Render, InlinesEachIncludeOnceAndDependenciesFirst) {
  const Source source = rendered("base", config, "sm_90a");
  const std::size_t a = source.text.find("constexpr int a = 1;");
  const std::size_t b = source.text.find("constexpr int b = a;");
  ASSERT_NE(b, std::string::npos);
  EXPECT_LT(a, b);
  EXPECT_EQ(source.text.find("constexpr int a = 1;", a + 1), std::string::npos);
  EXPECT_FALSE(has(source, "#include"));
  EXPECT_FALSE(has(source, "#pragma once"));
}

Source with_files(const Files& files) {
  const Op op = scale_op();
  const Problem problem = complete_problem(op, Problem::parse("n=8"));
  return render(op, op.templates[0], problem, op.templates[0].space(problem).legal(Values::parse(config)),
                "sm_90a", files);
}

std::string error_of(const Files& files) {
  try {
    with_files(files);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Render, InlinesAFragmentWhereItStandsEachTime) {
  Files files = scale_files();
  files["scale/base.cu"] = R"(#include "common/a.cuh"
struct First {
#include "scale/size.inl"
};
struct Second {
#include "scale/size.inl"
};
  #include "scale/size.inl"
)";
  files["scale/size.inl"] = "static constexpr int size = BLOCK * a;\n";
  const std::string text = with_files(files).text;
  const std::size_t body = text.find("struct First");
  ASSERT_NE(body, std::string::npos);
  EXPECT_EQ(text.substr(body), R"(struct First {
static constexpr int size = BLOCK * a;
};
struct Second {
static constexpr int size = BLOCK * a;
};
  #include "scale/size.inl"
)") << "only a directive at the start of its line counts";
  EXPECT_LT(text.find("constexpr int BLOCK = 64;"), body);
}

TEST(Render, InlinesTheFragmentsOfAFragmentAndMovesItsOtherIncludes) {
  Files files = scale_files();
  files["scale/base.cu"] = "int before;\n#include \"scale/outer.inl\"\nint after;\n";
  files["scale/outer.inl"] =
      "#include \"common/b.cuh\"\nint outer;\n#include \"common/inner.inl\"\nint end;\n";
  files["common/inner.inl"] = "#include \"common/a.cuh\"\nint inner;\n";
  const std::string text = with_files(files).text;
  const std::size_t body = text.find("int before;");
  ASSERT_NE(body, std::string::npos);
  EXPECT_EQ(text.substr(body), "int before;\nint outer;\nint inner;\nint end;\nint after;\n");
  const std::size_t a = text.find("constexpr int a = 1;");
  EXPECT_LT(a, text.find("constexpr int b = a;"));
  EXPECT_LT(text.find("constexpr int b = a;"), text.find("constexpr int BLOCK"));
  EXPECT_EQ(text.find("constexpr int a = 1;", a + 1), std::string::npos) << "once";
}

TEST(Render, RefusesAMissingFragmentAndOneThatIncludesItself) {
  Files files = scale_files();
  files["scale/base.cu"] += "#include \"scale/outer.inl\"\n";
  EXPECT_EQ(error_of(files), "There is no template file templates/scale/outer.inl.");
  files["scale/outer.inl"] = "#include \"scale/inner.inl\"\n";
  files["scale/inner.inl"] = "int inner;\n";
  EXPECT_EQ(error_of(files), "");
  files["scale/inner.inl"] = "#include \"scale/outer.inl\"\n";
  EXPECT_EQ(error_of(files),
            "The fragment templates/scale/outer.inl includes itself, by way of templates/scale/inner.inl: "
            "remove that include.");
}

TEST(Render, TheHostGetsItsShimAndEntries) {
  const Source source = rendered("base", config, "host");
  EXPECT_TRUE(has(source, "#define TUNESMITH_HOST\n"));
  EXPECT_TRUE(has(source, "TUNESMITH_HOST_ENTRY(scale_base" + source.suffix + ")\n"));
  EXPECT_FALSE(has(rendered("base", config, "sm_90a"), "TUNESMITH_HOST"));
}

TEST(Render, RefusesWhatIsNotInTheSpace) {
  EXPECT_THROW(rendered("base", "BLOCK=64", "sm_90a"), UsageError);
  EXPECT_THROW(rendered("base", "BLOCK=64 VECTOR=4 STORE_MODE=plain", "sm_90a", "n=7"), UsageError);
  const Op op = scale_op();
  const Problem problem = complete_problem(op, Problem::parse("n=8"));
  const Config chosen = op.templates[0].space(problem).legal(Values::parse(config));
  EXPECT_THROW(render(op, op.templates[0], problem, chosen, "host", {}), Error);
}

// The errors are in a fragment, in an included file and in the body itself.
TEST(Located, ACompilersLinesAreThoseOfTheOpsFolder) {
  Op op;
  op.name = "test";
  Template tmpl;
  tmpl.name = "body";
  tmpl.compiled_in = {};
  const Files files = {{"test/body.cu",
                        "// what it is\n#include \"test/other.cuh\"\n\nint one;\n"
                        "#include \"test/piece.inl\"\nint two;\n"},
                       {"test/other.cuh", "#pragma once\n\nint three;\n"},
                       {"test/piece.inl", "int four;\nint five;\n"}};
  const std::string text = render(op, tmpl, Problem(), Config(), "sm_90a", files).text;
  const auto line_of = [&](const std::string& wanted) {
    const std::string before = text.substr(0, text.find(wanted));
    return std::to_string(std::count(before.begin(), before.end(), '\n') + 1);
  };
  const auto told = [&](const std::string& line) {
    return located("variant.cpp:" + line + ":5: error; variant.cu(" + line + "): error", text, files);
  };
  // A text that is no place in the source stays.
  for (const char* log : {"variant.", "variant.cu(3", "variant.cu(x)", "variant.cpp:", "variant.cpp:x",
                          "variant.cu: 3", "variant.cpp:99999999999", "variant.cpp:0 variant.cpp:9999"})
    EXPECT_EQ(located(log, text, files), log);
  for (const auto& [wanted, place] : {std::pair("int one", "test/body.cu:4"),
                                      {"int two", "test/body.cu:6"},
                                      {"int three", "test/other.cuh:3"},
                                      {"int five", "test/piece.inl:2"}}) {
    EXPECT_EQ(told(line_of(wanted)), place + std::string(":5: error; ") + place + ": error");
  }
  EXPECT_EQ(told("1"), "variant.cpp:1:5: error; variant.cu(1): error");  // in render's own text
  EXPECT_EQ(told("12345678901"), "variant.cpp:12345678901:5: error; variant.cu(12345678901): error");
}

// Code that is not plain CUDA C++ belongs in templates/common, with its host version beside it.
TEST(Render, KernelsOfOpsHaveNoInstructionsOfTheirOwn) {
  const std::regex forbidden(R"(\b(asm|__asm__|TUNESMITH_HOST|__CUDA_ARCH__)\b)");
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(source_folder) / "templates")) {
    const std::filesystem::path& path = entry.path();
    const std::string extension = path.extension().string();
    if (extension != ".cu" && extension != ".cuh" && extension != ".inl") continue;
    if (path.parent_path().filename() == "common") continue;
    ++files;
    std::ifstream file(path);
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      EXPECT_FALSE(std::regex_search(line.substr(0, line.find("//")), forbidden))
          << path.string() << ":" << number << ": " << line
          << "\n  belongs in a file of templates/common, with its host version";
    }
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace tunesmith
