// SPDX-License-Identifier: Apache-2.0
// Reads the text of a user's own .cu: its kernels, their parameters, and the form for rendering. Comments and
// literals are skipped; #if conditions are evaluated as far as possible (preprocessor.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// Returns the text with each character of comments and of quoted text replaced by a blank; line ends stay.
std::string blanked(std::string_view text);

/// A parameter of a template.
struct TemplateParameter {
  enum class Kind { type, value, other };  // other: a pack or a template, which nothing here instantiates
  Kind kind = Kind::type;
  std::string type;     ///< of a value: "int"
  std::string name;     ///< empty: it has none
  std::string initial;  ///< the default; empty: it has none
};

/// Splits a list at its commas, except those in brackets of any kind: "T, Pair<A, B>".
std::vector<std::string> split_list(std::string_view list);

struct DeclaredKernel {
  struct Parameter {
    std::string type;  ///< without const and __restrict__; a pointer's with its *
    std::string name;
    bool is_pointer = false;
    bool is_const = false;     ///< the pointed-to type is const
    bool is_restrict = false;  ///< the pointer is __restrict__
  };
  std::string name;
  std::vector<Parameter> parameters;
  bool is_template = false;
  std::vector<TemplateParameter> template_parameters = {};
  int line = 1;
  int other_line = 0;  ///< the line of a declaration of the same name with other parameters; 0: none
};

/// Returns each __global__ function once, in the order of the text; its definition if there is one. Templates
/// of one name with other template parameters are other functions; specialisations are none.
std::vector<DeclaredKernel> kernels_of(std::string_view text);

/// An ordinary function of the text, for the host.
struct HostFunction {
  DeclaredKernel declared;         ///< its name, parameters and line
  std::string returns;             ///< the return type and other words before its name: "void", "static void"
  std::size_t begin = 0, end = 0;  ///< the range of its definition in the text
};

/// Returns the first definition of a function of this name, with the line of a second one if there is one;
/// nothing if there is none.
std::optional<HostFunction> function_of(std::string_view text, std::string_view name);

/// Returns the file that a line #include "…" names; empty for any other line.
std::string included_file(std::string_view line);

/// True if such a name leads out of the folder.
bool is_outside(std::string_view included);

/// The use of a constant in the text; the constant is to be defined before the text.
enum class ConstantForm {
  none,        ///< its name does not occur
  macro,       ///< in a line of the preprocessor: #define, #ifndef, #if, …
  expression,  ///< only outside preprocessor lines
};
ConstantForm form_of(std::string_view text, std::string_view name);

struct KernelBody {
  std::string text;      ///< it has the same lines as the file
  std::string includes;  ///< the lines #include <…>, which stand before the constants
  /// The #include <…> lines that stay in place: in a condition that tells the host from the device, such as
  /// #ifdef __CUDA_ARCH__, or in one that never holds.
  std::string conditional_includes;
  std::string
      behind;  ///< text to append: aliases by which kernels in namespaces are known by their plain names
  /// Sentences on lines that were left out: "BLOCK is defined by Tunesmith; line 3 is left out: #define BLOCK
  /// 128".
  std::vector<std::string> notes;
};

struct CompiledText;

/// A template that is compiled for one list of arguments.
struct Instantiation {
  std::string kernel;
  std::string entry;  ///< the name of the kernel that it becomes; the first one of a template has its name
  std::vector<TemplateParameter> parameters;
  /// By parameter: the argument as C++, in which the names of the parameters do not hide others; empty: the
  /// default.
  std::vector<std::string> arguments;
};

struct BodyOptions {
  /// Tells if a header such as "<cmath>" is not needed and left out everywhere.
  std::function<bool(const std::string&)> is_known_header = nullptr;
  /// Returns the first half of a sentence on why the line that includes the header gives way; empty: it
  /// stays.
  std::function<std::string(const std::string&)> why_left_out = nullptr;
  /// Returns the text that replaces the line that includes any other header.
  std::function<std::string(const std::string&)> in_place = nullptr;
  /// Tells if a function of the text overloads one that the host declares outside of the text.
  std::function<bool(const std::string& name, const std::vector<DeclaredKernel::Parameter>&)> is_overload =
      nullptr;
  const CompiledText* compiled = nullptr;  ///< null: only the text itself is used
  std::vector<Instantiation> instantiations = {};
  /// The variables of device memory that the host writes: they get a name that a binary exports.
  std::vector<std::string> symbols = {};
};

/// Makes the body to render: the text's own definitions of these constants are left out, kernel names differ
/// between variants, and dynamic shared memory is spelled so that the host recognises it.
KernelBody kernel_body(std::string_view text, const std::vector<std::string>& constants,
                       const BodyOptions& options = {});

}  // namespace tunesmith
