// SPDX-License-Identifier: Apache-2.0
// What read_description() (description.h) does with a parsed text, in parts. Private to kernel_file/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_file/description.h"
#include "kernel_file/toml_reader.h"

namespace tunesmith {

bool is_identifier(std::string_view text);
bool is_lower(std::string_view text);

/// The dtypes that an array of a user's kernel may have.
inline const std::vector<std::string> described_dtypes = {"f32", "f64", "f16", "bf16", "i8",  "i16", "i32",
                                                          "i64", "u8",  "u16", "u32",  "u64", "bool"};

class DescriptionReader : private TomlReader {
 public:
  DescriptionReader(const KernelFile& text, std::string file) : TomlReader(std::move(file)), text_(text) {}

  Description read(const toml::table& root);

 private:
  // description.cpp
  std::string kernel_names() const;
  // What it reads of device memory beside its arguments has a value.
  void must_be_filled(const toml::node* node, const std::string& kernel) const;
  const DeclaredKernel& kernel_of(const toml::node* node, const std::string& name) const;
  const DeclaredKernel& chosen_kernel(const toml::node* node) const;
  std::vector<std::string> dtype_categories(const toml::node& node) const;
  std::vector<ExpressionName> problem_names() const;
  IntegerExpression expression(const toml::node& node, const std::string& key,
                               const std::vector<ExpressionName>& names) const;
  std::vector<DescribedRule> rules(const toml::node& node, const std::string& key,
                                   const std::vector<ExpressionName>& names) const;
  void read_rules(const toml::table& root);
  void read_rest(const toml::table& root);

  // description_arrays.cpp: what a pointer's type says of its array, and what an array holds in checks
  bool is_of_problem(const DeclaredKernel::Parameter& parameter) const;
  // Why an array of that dtype cannot stand behind the pointer, as the end of a sentence; empty: it can. A
  // struct's elements are not known, so it may be called whatever the description says.
  std::string why_not(const DeclaredKernel::Parameter& parameter, const std::string& dtype) const;
  // Empty: the problem's.
  std::string dtype_of_pointer(const toml::node& node, const std::string& key,
                               const DeclaredKernel::Parameter& parameter) const;
  // The kernel's pointer that takes the array; null: none does.
  const DeclaredKernel::Parameter* pointer_to(const toml::table& root, const DeclaredKernel& kernel,
                                              const std::string& array) const;
  // Of "index(cols)": a number, or an expression of the problem.
  void set_bound(const toml::node& node, std::string_view words, double& number,
                 std::optional<IntegerExpression>& expression) const;
  DescribedValues values_of_words(const toml::node& node, const std::string& key,
                                  const DescribedArray& array) const;
  void read_values(const toml::node& node, const std::string& key, DescribedArray& array) const;
  // Names only; their extents name parameters, which are not known yet. Dtypes that the kernel's pointers
  // have need not be given.
  void read_arrays(const toml::table& root, const DeclaredKernel& kernel, std::vector<std::string>& dtypes);
  // All texts of a description, but not its names.
  static void gather(const toml::node& node, std::string& words);
  // The node in one form, without sentences for people.
  static std::string canonical(const toml::node& node);
  static std::string checks_of(const toml::table& root);
  // A parameter of the problem without any use is mostly a forgotten argument, or a name written in two ways.
  void must_be_used(const toml::table& root) const;
  // A pointer that promises to be the only one to what is written, and is not.
  void must_be_alone(const toml::table& root, const DeclaredKernel& kernel) const;
  void must_be_given(const toml::table& root) const;
  void parse_extents(const toml::table& root, DescribedArray& array) const;

  // description_problem.cpp: the problem's parameters, and the axes
  void read_problem(const toml::table& root, const std::vector<std::string>& dtypes);
  Parameter parameter(const std::string& name, const toml::node& node) const;
  void set_categories(Parameter& made, const toml::node& node, const std::string& key) const;
  void set_range(Parameter& made, const toml::node& node, const std::string& key) const;
  void read_axes(const toml::table& root);
  // Beside its own definitions, in a text that the kernel is made of.
  bool occurs(const std::string& name) const;
  // Whether the launch tells the kernel the value: as an argument, or in a block whose size it reads.
  bool is_told(const toml::table& root, const std::string& name) const;
  void must_occur(const toml::table& root, const toml::node& node, const std::string& key,
                  const std::string& name) const;

  // description_launch.cpp
  std::vector<IntegerExpression> extent(const toml::table* given, const std::string& key,
                                        const std::string& of) const;
  DescribedLaunch launch(const toml::table* given, const std::string& of, const DeclaredKernel& kernel) const;
  void must_fit(const toml::node* node, const std::string& which, const DeclaredKernel::Parameter& parameter,
                const DescribedArray& array) const;
  // What fills a kernel's parameter: `words` name an array or are an expression.
  DescribedArgument argument(const toml::node* node, const DeclaredKernel::Parameter& parameter,
                             const std::string& words, const DeclaredKernel& kernel) const;
  void read_reference(const toml::table& root, const DeclaredKernel& tuned);
  // A function of the file, which is called once and works on whole arrays.
  void read_function(const toml::table& given, const toml::node& node);

  const KernelFile& text_;
  std::vector<DeclaredKernel> kernels_;
  std::string tuned_kernel_;
  bool dtype_is_given_ = false;
  std::vector<std::string> compiled_;  // each file without comments, literals and what is never compiled
  std::string code_;                   // all of them
  Description made_;
};

}  // namespace tunesmith
