// SPDX-License-Identifier: Apache-2.0
// A statement becomes a block in which each operand and each register is a variable, with a call for each
// instruction:
//
//   asm("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p add.s32 %0, %0, 1; }" : "+r"(sum) : "r"(flag));
//
//   ({ auto& tunesmith_x0 = (sum); auto tunesmith_o0 = taken<'r'>(tunesmith_x0);
//      auto tunesmith_o1 = taken<'r'>(flag);
//      { bool tunesmith_r_p; compare<Is_ne, b32>(tunesmith_r_p, tunesmith_o1, Constant<0>());
//        if (tunesmith_r_p) add_whole<false, s32>(tunesmith_o0, tunesmith_o0, Constant<1>()); }
//      give(tunesmith_x0, tunesmith_o0); })
#include "runtime/ptx_translation.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "generator/number_text.h"
#include "runtime/ptx_instructions.h"
#include "runtime/ptx_program.h"
#include "runtime/ptx_statement.h"

namespace tunesmith {
namespace {

constexpr std::string_view ptx_included_line = "namespace tunesmith_ptx {}";  // of common/host/ptx.h
constexpr std::string_view variant_line = "// ---- what this variant is";     // of render()

std::string quoted_literal(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c == '\n' ? ' ' : c;
  }
  return made + "\"";
}

class PtxTranslation {
 public:
  explicit PtxTranslation(const AsmStatement& statement)
      : statement_(statement), problem_(statement.problem) {
    if (!problem_.empty()) return;
    const PtxProgram program = ptx_program(statement_.text, statement_.has_operands);
    problem_ = program.problem;
    if (problem_.empty()) translate(program);
  }

  /// Why it is not understood, as the end of a sentence; empty: it is.
  const std::string& problem() const { return problem_; }
  std::string code() const { return "({ " + before_ + body_ + behind_ + "})"; }

 private:
  void fail(const std::string& why) {
    if (problem_.empty()) problem_ = why;
  }

  // The operand of C++ behind %0 or %[name]; null: there is none.
  const AsmOperand* argument(const std::string& name, std::size_t* place) const {
    const std::size_t outputs = statement_.outputs.size(), all = outputs + statement_.inputs.size();
    const auto number = parsed_number<int>(name);
    for (std::size_t n = 0; n < all; ++n) {
      const AsmOperand& one = n < outputs ? statement_.outputs[n] : statement_.inputs[n - outputs];
      if (number ? static_cast<std::size_t>(*number) != n : name.empty() || one.name != name) continue;
      *place = n;
      return &one;
    }
    return nullptr;
  }

  static std::string variable(std::size_t operand) { return "tunesmith_o" + std::to_string(operand); }
  static std::string of_register(std::string name) {
    for (char& c : name)
      if (c == '%' || c == '$') c = '_';
    return "tunesmith_r_" + name;
  }

  std::string scratch(const std::string& type, const std::string& value) {
    const std::string name = "tunesmith_s" + std::to_string(scratches_++);
    body_ += type + " " + name + (value.empty() ? "" : " = " + value) + "; ";
    return name;
  }

  bool is_declared(const std::string& name) const {
    return std::any_of(declared_.begin(), declared_.end(), [&](const std::vector<std::string>& scope) {
      return std::find(scope.begin(), scope.end(), name) != scope.end();
    });
  }

  std::string constant(const std::string& value) const { return "tunesmith_ptx::Constant<" + value + ">()"; }

  // A part in braces or of a pair must be a variable.
  std::string part(const PtxOperand& one) {
    if (one.kind == PtxOperand::Kind::sink) return scratch("unsigned", "");
    const std::string text = operand(one, false);
    const bool is_variable = text.starts_with("tunesmith_o") || text.starts_with("tunesmith_r_");
    return is_variable ? text : scratch("unsigned", "tunesmith_ptx::get<unsigned>(" + text + ")");
  }

  std::string operand(const PtxOperand& one, bool in_vector) {
    const auto wrapped = [&](const std::string& text) {
      return in_vector ? "tunesmith_ptx::vector(" + text + ")" : text;
    };
    switch (one.kind) {
      case PtxOperand::Kind::argument: {
        std::size_t place = 0;
        const AsmOperand* const found = argument(one.text, &place);
        if (found == nullptr) {
          fail("it has no operand %" + one.text);
          return "";
        }
        if (found->constraint == "n") return constant("static_cast<long long>(" + found->expression + ")");
        return wrapped(variable(place));
      }
      case PtxOperand::Kind::name:
        break;
      case PtxOperand::Kind::special: {
        if (is_declared(one.text)) break;
        const std::string call = ptx_special(one.text);
        if (call.empty()) fail("the host has no register " + one.text);
        return call;
      }
      case PtxOperand::Kind::whole:
        return constant(one.text);
      case PtxOperand::Kind::bits:
        return one.text;
      case PtxOperand::Kind::decimal:
        return "tunesmith_ptx::Decimal{" + one.text + "}";
      case PtxOperand::Kind::sink:
        return scratch("unsigned", "");
      case PtxOperand::Kind::not_predicate:
        return "!" + operand(one.parts.front(), false);
      case PtxOperand::Kind::pair:
        return "tunesmith_ptx::both(" + part(one.parts[0]) + ", " + part(one.parts[1]) + ")";
      case PtxOperand::Kind::vector: {
        std::string list;
        for (const PtxOperand& each : one.parts) list += (list.empty() ? "" : ", ") + part(each);
        return "tunesmith_ptx::vector(" + list + ")";
      }
      case PtxOperand::Kind::address: {
        std::string text = "tunesmith_ptx::address(" + operand(one.parts[0], false) + ", ";
        if (one.parts.size() < 2) return text + one.text + ")";
        return text + "tunesmith_ptx::get<long long>(" + operand(one.parts[1], false) + "))";
      }
    }
    if (!is_declared(one.text)) fail("it names " + one.text + ", which it does not declare");
    return wrapped(of_register(one.text));
  }

  static std::string letter_of(const AsmOperand& output) {
    std::string letter = output.constraint;
    std::erase_if(letter, [](char c) { return c == '=' || c == '+' || c == '&'; });
    return letter;
  }

  void declare_operands() {
    for (std::size_t n = 0; n < statement_.outputs.size() + statement_.inputs.size(); ++n) {
      const bool is_output = n < statement_.outputs.size();
      const AsmOperand& one =
          is_output ? statement_.outputs[n] : statement_.inputs[n - statement_.outputs.size()];
      std::string letter = is_output ? letter_of(one) : one.constraint;
      const std::string number = std::to_string(n), name = variable(n), seen = "tunesmith_x" + number;
      constexpr std::string_view letters = "hrlfd";
      // An input may share the register of an output: "0".
      const auto shared = is_output ? std::nullopt : parsed_number<int>(letter);
      if (shared && static_cast<std::size_t>(*shared) < statement_.outputs.size()) {
        letter = letter_of(statement_.outputs[static_cast<std::size_t>(*shared)]);
        before_ += variable(static_cast<std::size_t>(*shared)) + " = tunesmith_ptx::taken<'" + letter +
                   "'>(" + one.expression + "); auto& " + name + " = " +
                   variable(static_cast<std::size_t>(*shared)) + "; ";
        continue;
      }
      if (!is_output && letter == "n") continue;
      if (letter.size() != 1 || letters.find(letter) == std::string_view::npos)
        return fail("the host does not know its constraint \"" + one.constraint + "\"");
      const std::string of_letter = "<'" + letter + "'>";
      if (is_output) {
        before_ += "auto& " + seen + " = (" + one.expression + "); tunesmith_ptx::RegisterOf" + of_letter +
                   "::Type " + name;
        if (one.constraint.find('+') != std::string::npos)
          before_ += " = tunesmith_ptx::taken" + of_letter + "(" + seen + ")";
        before_ += "; ";
        behind_ += "tunesmith_ptx::give(" + seen + ", " + name + "); ";
      } else {
        before_ += "auto " + name + " = tunesmith_ptx::taken" + of_letter + "(" + one.expression + "); ";
      }
    }
  }

  void translate(const PtxProgram& program) {
    declare_operands();
    declared_.assign(1, {});
    for (const PtxStep& step : program.steps) {
      switch (step.kind) {
        case PtxStep::Kind::opens:
          body_ += "{ ";
          declared_.emplace_back();
          break;
        case PtxStep::Kind::closes:
          body_ += "} ";
          declared_.pop_back();
          break;
        case PtxStep::Kind::declares: {
          const std::string_view type = ptx_register(step.words);
          if (type.empty()) return fail("it declares a register of the type ." + step.words);
          for (const std::string& name : step.names) {
            declared_.back().push_back(name);
            body_ += std::string(type) + " " + of_register(name) + "; ";
          }
          break;
        }
        case PtxStep::Kind::instruction:
          add(step);
      }
    }
  }

  void add(const PtxStep& step) {
    const std::optional<PtxCall> call = ptx_call(step.words, step.operands.size());
    if (!call) return fail("it does not know the instruction " + step.words);
    std::string list;
    for (const PtxOperand& one : step.operands)
      list += (list.empty() ? "" : ", ") + operand(one, call->takes_vectors);
    if (!step.guard.empty()) {
      if (!is_declared(step.guard)) fail("it names " + step.guard + ", which it does not declare");
      body_ += std::string("if (") + (step.is_not ? "!" : "") + of_register(step.guard) + ") ";
    }
    body_ += call->function + "(" + list + "); ";
  }

  const AsmStatement& statement_;
  std::string problem_;
  std::string before_, body_, behind_;
  std::vector<std::vector<std::string>> declared_;  // registers, by scope
  int scratches_ = 0;
};

}  // namespace

std::string with_ptx_translated(const std::string& text) {
  const std::size_t included = text.find(ptx_included_line);
  if (included == std::string::npos) return text;
  const std::size_t variant = text.find(variant_line, included);
  std::string made, refused;
  std::size_t done = 0, count = 0;
  for (const AsmStatement& one : asm_statements(text, variant == std::string::npos ? included : variant)) {
    made.append(text, done, one.begin - done);
    done = one.end;
    if (const PtxTranslation translation(one); translation.problem().empty()) {
      made += translation.code();
    } else {
      const std::string name = "not_on_the_host_" + std::to_string(count++);
      made += "tunesmith_ptx::" + name + "()";
      refused +=
          "void " + name + "() __attribute__((error(" +
          quoted_literal("The host does not run this asm statement, because " + translation.problem() + ".") +
          "))); ";
    }
    made += one.line_ends;
  }
  made.append(text, done);
  return made.insert(included + ptx_included_line.size() - 1, refused);
}

}  // namespace tunesmith
