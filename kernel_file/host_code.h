// SPDX-License-Identifier: Apache-2.0
// Reads what a file's host code says of a kernel: its launch, and the sizes that it is computed from, as
// expressions of a description. What is not understood is not known. Private to kernel_file/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_file/c_tokens.h"

namespace tunesmith {

/// An expression of C++ whole numbers.
struct HostExpression {
  enum class Kind { number, name, size, binary, unary, choice, call };  // size: sizeof a type
  Kind kind = Kind::number;
  std::int64_t number = 0;
  std::string word;  // the name, the type, the operator, or the function
  std::vector<HostExpression> parts = {};

  bool operator==(const HostExpression&) const = default;
  /// The expression in a description's language; it has no sizes.
  std::string text() const;
  bool is_number(std::int64_t value) const { return kind == Kind::number && number == value; }
};

/// Parses a text; nothing if it has a form that is not known.
std::optional<HostExpression> parsed_expression(const std::string& words);

/// Returns a by b, in a simple form: (n + 31) / 32 is ceil_div(n, 32).
HostExpression joined(const std::string& by, HostExpression a, HostExpression b);

/// kernel<arguments><<<grid, block, shared_bytes>>>(arguments)
struct HostLaunch {
  std::vector<std::string> template_arguments;
  std::string grid, block, shared_bytes;  ///< as written; empty: none
  std::vector<std::string> arguments;
  std::size_t at = 0;  ///< its place in the code
};

/// A name that an expression keeps: a variable of the host, or a constant.
struct HostName {
  std::optional<std::int64_t> value = std::nullopt;
  bool is_constant = false;  ///< a macro, or a constant at file scope
};

class HostCode {
 public:
  /// `code` is blanked (kernel_source.h) and must outlive this.
  explicit HostCode(std::string_view code);

  std::vector<HostLaunch> launches_of(const std::string& kernel) const;
  /// Returns the name of the function around the place; empty: there is none.
  std::string function_around(std::size_t at) const;

  /// A loop around a place: for (variable = first; variable < limit; …)
  struct Loop {
    std::string first, comparison, limit;
  };
  /// Returns the innermost loop of the variable around the place; nothing: there is none in this form.
  std::optional<Loop> loop_of(const std::string& variable, std::size_t at) const;

  /// Returns what the function around the place is called with for its template parameter; nothing: not
  /// known.
  std::optional<std::string> template_argument(const std::string& parameter, std::size_t at) const;

  /// A place in host code, and what is known there: variables that have the value of a kernel's parameter.
  struct Place {
    std::size_t at = 0;
    std::map<std::string, std::string> known = {};
  };

  /// Returns the expression with the definitions of its variables in their place; nothing if it is not
  /// understood. A variable with a literal as its value stays, and so does one whose value is not known;
  /// `names` has what is known of them.
  std::optional<HostExpression> resolved(const std::string& words, const Place& place,
                                         std::map<std::string, HostName>& names) const;

  /// Returns the components x, y, z of a launch's grid or block; empty: not understood.
  std::vector<HostExpression> components(const std::string& words, const Place& place,
                                         std::map<std::string, HostName>& names) const;

  /// Returns the bytes that are allocated for the pointer; nothing if that is not found.
  std::optional<HostExpression> allocation(const std::string& pointer, const Place& place,
                                           std::map<std::string, HostName>& names) const;

  /// Returns the number of elements of so many bytes; `element` is their type.
  std::optional<HostExpression> elements(const HostExpression& bytes, const std::string& element) const;

  /// Returns the value of a macro, or of a constant at file scope or anywhere; nothing if it is no number.
  std::optional<std::int64_t> constant(const std::string& name) const;

  /// Returns the names of the macros without parameters, and their texts.
  std::map<std::string, std::string> plain_macros() const;

 private:
  struct Function {
    std::string name;
    std::vector<std::string> parameters;
    std::size_t head = 0, open = 0, close = 0;
  };
  struct Macro {
    std::optional<std::vector<std::string>> parameters;
    std::string body;
  };
  std::vector<HostLaunch> launches_by_call(const std::string& kernel) const;
  const Function* function_at(std::size_t at) const;
  std::optional<HostExpression> resolved(const HostExpression& given, const Place& place,
                                         std::map<std::string, HostName>& names, int depth) const;
  std::optional<HostExpression> of_name(const std::string& name, const Place& place,
                                        std::map<std::string, HostName>& names, int depth) const;
  std::optional<HostExpression> of_call(const HostExpression& given, const Place& place,
                                        std::map<std::string, HostName>& names, int depth) const;
  std::optional<std::int64_t> constant(const std::string& name, int depth) const;
  // Returns the text that initialises a variable in the function around the place, or at file scope.
  std::optional<std::string> definition(const std::string& name, std::size_t at, bool& is_constant) const;
  // Returns the value that a variable of the function has at the place, of several that are assigned to it:
  // the last one before, if nothing but it can have been assigned there.
  std::optional<std::string> value_at(const std::string& name, const Function& function,
                                      std::size_t at) const;
  // Returns the expression with the sizes of known types as numbers.
  HostExpression counted(const HostExpression& one) const;
  // Returns the value of a constant of a class, as in Packed<float>::size; nothing: not known.
  std::optional<HostExpression> of_member(const std::string& word, const Place& place,
                                          std::map<std::string, HostName>& names, int depth) const;
  struct Call {
    Place place;
    std::vector<std::string> arguments;
  };
  std::optional<Call> call_of(const Function& function, const Place& place) const;
  std::vector<HostExpression> components(const std::string& words, const Place& place,
                                         std::map<std::string, HostName>& names, int depth) const;
  std::optional<HostExpression> allocation(const std::string& pointer, const Place& place,
                                           std::map<std::string, HostName>& names, int depth) const;

  std::string_view code_;
  std::vector<Function> functions_;
  std::map<std::string, Macro> macros_;
};

}  // namespace tunesmith
