// SPDX-License-Identifier: Apache-2.0
// The text of a user's own .cu: which kernels it has and what they take, and the form in which it is
// rendered. It is read as a compiler's first look would: comments and literals are skipped, and of #if what
// can be decided is (preprocessor.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// The text with each character of comments, and of what is in quotes, as a blank; line ends stay.
std::string blanked(std::string_view text);

struct DeclaredKernel {
  struct Parameter {
    std::string type;  ///< without const and __restrict__; of a pointer with its *
    std::string name;
    bool is_pointer = false;
    bool is_const = false;     ///< what a pointer points to
    bool is_restrict = false;  ///< a pointer that promises to be the only one
  };
  std::string name;
  std::vector<Parameter> parameters;
  bool is_template = false;
  int line = 1;
  int other_line = 0;  ///< of a declaration of the same name with other parameters; 0: there is none
};

/// Each __global__ function once, in the order of the text; as it is defined, if it is.
std::vector<DeclaredKernel> kernels_of(std::string_view text);

/// An ordinary function of the text, for the host.
struct HostFunction {
  DeclaredKernel declared;         ///< its name, parameters and line
  std::string returns;             ///< the words before its name: "void", "static void"
  std::size_t begin = 0, end = 0;  ///< of its definition, in the text
};

/// The first definition of a function of this name, with the line of another one, if there is one; nothing:
/// there is none.
std::optional<HostFunction> function_of(std::string_view text, std::string_view name);

/// What a line #include "…" names; empty for any other line.
std::string included_file(std::string_view line);

/// Whether such a name leads out of the folder.
bool is_outside(std::string_view included);

/// How the text speaks of a constant that is to be written before it.
enum class ConstantForm {
  none,        ///< its name does not occur
  macro,       ///< in a line of the preprocessor: #define, #ifndef, #if, …
  expression,  ///< only elsewhere
};
ConstantForm form_of(std::string_view text, std::string_view name);

struct KernelBody {
  std::string text;      ///< its lines are those of the file
  std::string includes;  ///< the lines #include <…>, which stand before the constants
  /// Those that stay where they are: in a condition that tells the host from the device, such as
  /// #ifdef __CUDA_ARCH__, or in one that never holds.
  std::string conditional_includes;
  std::string behind;  ///< what stands behind the text: kernels in namespaces, by their names alone
  /// Sentences on what gave way: "BLOCK is defined by Tunesmith; line 3 is left out: #define BLOCK 128".
  std::vector<std::string> notes;
};

struct CompiledText;

struct BodyOptions {
  /// Of "<cmath>", say, whether it is known without and left out everywhere.
  std::function<bool(const std::string&)> is_known_header = nullptr;
  /// What stands in place of the line that includes another one.
  std::function<std::string(const std::string&)> in_place = nullptr;
  /// Whether a function of the text is an overload of one that the host declares outside of the text.
  std::function<bool(const std::string& name, const std::vector<DeclaredKernel::Parameter>&)> is_overload =
      nullptr;
  const CompiledText* compiled = nullptr;  ///< null: what the text says alone
};

/// The body to render: the text's own definitions of these constants are left out, its kernels have names
/// that differ from variant to variant, and dynamic shared memory is spelled so that the host knows it.
KernelBody kernel_body(std::string_view text, const std::vector<std::string>& constants,
                       const BodyOptions& options = {});

}  // namespace tunesmith
