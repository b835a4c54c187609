// SPDX-License-Identifier: Apache-2.0
#include "generator/identity.h"

#include <gtest/gtest.h>

#include "generator/error.h"
#include "generator/render.h"
#include "tests/generator/test_op.h"

namespace tunesmith {
namespace {

TEST(WithoutComments, DropsCommentsBlankLinesAndIndentation) {
  EXPECT_EQ(without_comments("int a;  // one\n\n  /* two\n lines */ int b;\n"), "int a; int b;\n");
  EXPECT_EQ(without_comments("a/**/b"), "a b\n") << "a comment divides tokens";
  EXPECT_EQ(without_comments(""), "");
  EXPECT_EQ(without_comments("// only\n"), "");
}

TEST(WithoutComments, KeepsEachPreprocessorLine) {
  EXPECT_EQ(without_comments("int a;\n#  define X(y) \\\n  y  // why\nint b;\n#pragma unroll\nfor (;;) {}\n"),
            "int a;\n#define X(y) y\nint b;\n#pragma unroll\nfor (;;) {}\n");
  EXPECT_EQ(without_comments("a # b\n"), "a # b\n");
}

TEST(WithoutComments, LeavesLiteralsAlone) {
  EXPECT_EQ(without_comments("f(\"a  // b\", '\"', \"\\\"  /*\");  // c"),
            "f(\"a  // b\", '\"', \"\\\"  /*\");\n");
  EXPECT_EQ(without_comments("R\"x(a  // b)\" )x\"  + 1'000'000  // c"),
            "R\"x(a  // b)\" )x\" + 1'000'000\n");
}

Source rendered(const Op& op, const Files& files, std::string_view target = "sm_90a") {
  const Template& tmpl = op.templates.front();
  const Problem problem = complete_problem(op, Problem::parse("n=8"));
  return render(op, tmpl, problem,
                tmpl.space(problem).legal(Values::parse("BLOCK=64 VECTOR=4 STORE_MODE=streaming")), target,
                files);
}

TEST(Identity, AMendedCommentChangesNothing) {
  const Source before = rendered(scale_op(), scale_files());
  Files files = scale_files();
  files["common/a.cuh"] = "// A comment.\n" + files["common/a.cuh"];
  files["scale/base.cu"] = "/* Another. */\n\n" + files["scale/base.cu"];
  const Source after = rendered(scale_op(), files);
  EXPECT_EQ(after.hash, before.hash);
  EXPECT_EQ(after.suffix, before.suffix);
  EXPECT_NE(after.text, before.text);
}

TEST(Identity, CodeChangesIt) {
  const Source before = rendered(scale_op(), scale_files());
  Files files = scale_files();
  files["common/a.cuh"] = "#pragma once\nconstexpr int a = 2;\n";
  EXPECT_NE(rendered(scale_op(), files).hash, before.hash);
  Op op = scale_op();
  op.preamble = [](const Problem&) { return "constexpr int c = 3;  // generated\n"; };
  EXPECT_NE(rendered(op, scale_files()).hash, before.hash);
}

TEST(Identity, CodeThatMovesToAFragmentChangesNothing) {
  const Op op = scale_op();
  const std::string head = "#include \"common/a.cuh\"\nconstexpr int twice = 2 * BLOCK;\n";
  const std::string shared = "__device__ int tripled() { return 3 * BLOCK; }\n";
  const std::string tail = "constexpr int four = 4;\n";
  Files files = scale_files();
  files["scale/base.cu"] = head + shared + tail;
  const std::string hash = rendered(op, files).hash;
  const std::string of_body = body_hash(op, op.templates.front(), files);

  files["scale/base.cu"] = head + "#include \"scale/tripled.inl\"\n" + tail;
  files["scale/tripled.inl"] = "// Needs BLOCK.\n" + shared;
  EXPECT_EQ(rendered(op, files).hash, hash);
  EXPECT_EQ(body_hash(op, op.templates.front(), files), of_body);

  files["scale/tripled.inl"] += "constexpr int more = 1;\n";
  EXPECT_NE(rendered(op, files).hash, hash);
  EXPECT_NE(body_hash(op, op.templates.front(), files), of_body);
}

Op with_axes(const std::vector<Axis>& axes) {
  Op op = scale_op();
  op.templates.front().space = [axes](const Problem&) { return Space(axes); };
  return op;
}

TEST(Identity, TheOrderOfAxesAndTheirWordsIsNoPartOfIt) {
  const Axis block{BLOCK, {64, 32}, ""};
  const Axis vector{VECTOR, {4}, ""};
  const std::string before =
      rendered(with_axes({block, vector, {STORE_MODE, {"plain", "streaming"}, ""}}), scale_files()).hash;
  EXPECT_EQ(
      rendered(with_axes({{STORE_MODE, {"streaming", "plain", "bulk"}, ""}, vector, block}), scale_files())
          .hash,
      before);
}

TEST(Identity, AWordThatABodyReadsAsANumberCountsWithItsNumber) {
  Files files = scale_files();
  files["scale/base.cu"] += "constexpr int number = static_cast<int>(STORE_MODE);\n";
  const Axis block{BLOCK, {64}, ""};
  const Axis vector{VECTOR, {4}, ""};
  const auto hash = [&](const std::vector<Value>& words) {
    return rendered(with_axes({block, vector, {STORE_MODE, words, ""}}), files).hash;
  };
  EXPECT_NE(hash({"plain", "streaming"}), hash({"streaming", "plain"}));
  EXPECT_EQ(hash({"plain", "streaming"}), hash({"plain", "streaming", "bulk"}));
}

TEST(Identity, ATargetIsNoPartOfIt) {
  EXPECT_EQ(rendered(scale_op(), scale_files(), "sm_80").hash, rendered(scale_op(), scale_files()).hash);
}

TEST(RenderBody, AStoredBodyGivesTheSameVariant) {
  const Op op = scale_op();
  const Template& tmpl = op.templates.front();
  const Problem problem = complete_problem(op, Problem::parse("n=8"));
  const Config config = tmpl.space(problem).complete({});
  const std::string body = body_text(op, tmpl, problem, "sm_90a", scale_files());
  EXPECT_EQ(render_body(op, tmpl, problem, config, "sm_90a", body).text,
            render(op, tmpl, problem, config, "sm_90a", scale_files()).text);
  EXPECT_EQ(render_body(op, tmpl, problem, config, "sm_90a", without_comments(body)).hash,
            render(op, tmpl, problem, config, "sm_90a", scale_files()).hash);
  EXPECT_THROW(render_body(op, tmpl, problem, config, "sm_90a", "no place"), Error);
}

}  // namespace
}  // namespace tunesmith
