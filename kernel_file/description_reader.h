// SPDX-License-Identifier: Apache-2.0
// The parts of read_description() (description.h) that work on a parsed text. Private to kernel_file/.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_file/description.h"
#include "kernel_file/preprocessor.h"
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
  static void find_open(const toml::node& node, const std::string& key, std::vector<const toml::node*>& nodes,
                        std::vector<std::string>& keys);
  std::string kernel_names() const;
  // Requires that all device memory that the kernel reads, except its arguments, has a value.
  void must_be_filled(const toml::node* node, const std::string& kernel) const;
  // The text instantiate = "kernel<float, BLOCK>" of a description.
  struct Instantiate {
    const toml::node* node = nullptr;  // null: there is none
    std::string kernel = {};
    std::vector<std::string> arguments = {};
  };
  const DeclaredKernel& kernel_of(const toml::node* node, const std::string& name,
                                  const Instantiate& given) const;
  // `reference`: the kernel that is the reference, or "".
  const DeclaredKernel& chosen_kernel(const toml::node* node, const Instantiate& given,
                                      const std::string& reference) const;
  std::vector<std::string> dtype_categories(const toml::node& node) const;
  std::vector<ExpressionName> problem_names() const;
  IntegerExpression expression(const toml::node& node, const std::string& key,
                               const std::vector<ExpressionName>& names) const;
  std::vector<DescribedRule> rules(const toml::node& node, const std::string& key,
                                   const std::vector<ExpressionName>& names) const;
  void read_rules(const toml::table& root);
  void read_rest(const toml::table& root);
  // Sets of_loops.
  void find_loops();
  // Refuses kernels that read textures or surfaces.
  void must_read_no_texture() const;
  // Sets is_cooperative of the launches.
  void find_grid_syncs();

  // description_template.cpp: kernels that are templates
  Instantiate instantiate_of(const toml::node* node) const;
  // Returns the dtype of the arrays whose elements have the type; empty: there are none.
  std::string dtype_of_type_parameter(const toml::table& root, const toml::table* launch,
                                      const DeclaredKernel& kernel, const std::string& name,
                                      const std::vector<std::string>& dtypes) const;
  // Returns the name of the axis or of the problem's parameter that gives the value; empty: there is none.
  std::string value_argument(const toml::table& root, const DeclaredKernel& kernel,
                             const TemplateParameter& parameter);
  // Returns the kernel with the arguments in the place of the template's parameters.
  DeclaredKernel instantiated(const toml::table& root, const toml::table* launch,
                              const DeclaredKernel& kernel, const Instantiate& given,
                              const std::vector<std::string>& dtypes);

  // description_symbols.cpp: variables of the text that are filled before each launch
  // Reads [symbols], `zeroed`, and arrays with the role constant that have the name of a variable.
  void read_symbols(const toml::table& root);
  // Sets the places of the arrays, and requires that each is of the variable's type.
  void place_symbols();
  std::vector<std::string> symbol_names() const;

  // True if [axes] has an axis of that name whose values are types.
  static bool is_type_axis(const toml::table& root, const std::string& name);

  // description_arrays.cpp: the dtype of an array from its pointer's type, and its contents in checks
  // The axis whose name is the type of the parameter, without its *; empty: there is none.
  std::string type_axis_of(const DeclaredKernel::Parameter& parameter) const;
  bool is_of_problem(const DeclaredKernel::Parameter& parameter) const;
  // Returns the end of a sentence on why the pointer cannot take an array of that dtype; empty if it can. The
  // elements of a struct are not known, so the description may give it any dtype.
  std::string why_not(const DeclaredKernel::Parameter& parameter, const std::string& dtype) const;
  // Refuses a pointer to pointers; `begins` is the sentence up to its type.
  void refuse_pointers(const toml::node* node, const std::string& begins,
                       const DeclaredKernel::Parameter& parameter) const;
  // Returns the dtype that the pointer's type gives; empty: the dtype of the problem.
  std::string dtype_of_pointer(const toml::node& node, const std::string& key,
                               const DeclaredKernel::Parameter& parameter, const StructLayout& layout) const;
  // The layout of the structs that the pointer points to; without members there are none that can be read.
  // Types that the description defines (`type`, `defines`) are known in it.
  StructLayout layout_of_elements(const toml::table& root, const DeclaredKernel::Parameter& parameter,
                                  const std::vector<std::string>& dtypes) const;
  // Returns the first pointer of a launched kernel that takes the array; null if none does.
  const DeclaredKernel::Parameter* pointer_to(const std::string& array) const;
  // Refuses a bound of values that loses digits.
  void must_be_exact(const toml::node& node, std::int64_t whole) const;
  // Reads a bound, such as cols in "index(cols)": a number, or an expression of the problem.
  void set_bound(const toml::node& node, std::string_view words, double& number,
                 std::optional<IntegerExpression>& expression) const;
  DescribedValues values_of_words(const toml::node& node, const std::string& key,
                                  const DescribedArray& array) const;
  void read_values(const toml::node& node, const std::string& key, DescribedArray& array) const;
  // Reads values of all members, or a table of members.
  void read_member_values(const toml::node& node, const std::string& key, DescribedArray& array) const;
  // Reads only names and dtypes; extents name parameters, which are not known yet. A dtype that the kernels'
  // pointers have need not be given.
  void read_arrays(const toml::table& root, std::vector<std::string>& dtypes);
  // Reads the fields of an array's table.
  void read_fields(const toml::table& fields, const DeclaredKernel::Parameter* parameter,
                   DescribedArray& array) const;
  // Appends all texts of a description, but not its names.
  static void gather(const toml::node& node, std::string& words);
  // Returns the node in a canonical form, without the sentences for people.
  static std::string canonical(const toml::node& node);
  std::string checks_of(const toml::table& root) const;
  // Refuses a parameter of the problem that is never used: it is mostly a forgotten argument, or a name with
  // two spellings.
  void must_be_used(const toml::table& root) const;
  // Refuses a written __restrict__ pointer if another pointer of its kernel takes the same array.
  void must_be_alone() const;
  void must_be_given(const toml::table& root) const;
  void parse_extents(const toml::table& root, DescribedArray& array) const;

  // description_problem.cpp: the problem's parameters, and the axes
  void read_problem(const toml::table& root, const std::vector<std::string>& dtypes);
  Parameter parameter(const std::string& name, const toml::node& node) const;
  void set_categories(Parameter& made, const toml::node& node, const std::string& key) const;
  void set_range(Parameter& made, const toml::node& node, const std::string& key) const;
  void read_axes(const toml::table& root);
  void read_metrics(const toml::table& root);
  // Sets `reached_`.
  void find_reached(const toml::table& root, const std::vector<std::string>& constants);
  // True if the name occurs outside its own definitions in what the kernels reach.
  bool occurs(const std::string& name) const;
  // True if the launch passes the value to the kernel: as an argument, or by a block size that the kernel
  // reads.
  bool is_told(const toml::table& root, const std::string& name) const;
  void must_occur(const toml::table& root, const toml::node& node, const std::string& key,
                  const std::string& name) const;

  // description_launch.cpp
  std::vector<IntegerExpression> extent(const toml::table* given, const std::string& key,
                                        const std::string& of,
                                        const std::vector<ExpressionName>& names) const;
  DescribedLaunch launch(const toml::table* given, const std::string& of, const DeclaredKernel& kernel) const;
  void must_fit(const toml::node* node, const std::string& which, const DeclaredKernel::Parameter& parameter,
                const DescribedArray& array) const;
  // Reads a number of the type, without which it may be any; "The argument n of count" is in errors.
  DescribedNumber number(const toml::node& node, const std::string& which, std::optional<DType> dtype) const;
  // Reads the value of a kernel's parameter: `words` name an array or are an expression.
  DescribedArgument argument(const toml::node* node, const DeclaredKernel::Parameter& parameter,
                             const std::string& words, const DeclaredKernel& kernel,
                             const std::vector<ExpressionName>& names) const;
  // Reads a struct by value: a table of its members, or nothing if they have the names of values.
  DescribedArgument record(const toml::node* node, const DeclaredKernel::Parameter& parameter,
                           const StructLayout& layout, const DeclaredKernel& kernel,
                           const std::vector<ExpressionName>& allowed) const;
  void read_reference(const toml::table& root, const std::vector<std::string>& dtypes);
  // Reads the reference as a host function of the file, which is called once and works on whole arrays.
  void read_function(const toml::table& given, const toml::node& node);

  // description_compile.cpp: how variants are compiled
  void read_compilation(const toml::table& root);
  // Reads a number or the name of an axis; all values must be in the range, or 0 if that is allowed too.
  CompileSetting setting(const toml::node& node, const std::string& key, std::int64_t least,
                         std::int64_t most, bool or_zero) const;
  // True if [compile] names the axis.
  static bool is_setting(const toml::table& root, const std::string& name);

  // description_launches.cpp: what is launched, in which order and how often
  // Finds the kernel of each launch.
  void choose_kernels(const toml::table& root);
  void instantiate_kernels(const toml::table& root, const std::vector<std::string>& dtypes);
  void read_launches();
  void read_repeat(const toml::table& given, DescribedLaunch& made) const;
  DescribedSwap swap_of(const toml::node& node) const;
  std::size_t array_of(const toml::node& node, const std::string& key) const;
  // Requires that the launches that run together take the arrays that change places.
  void must_swap() const;
  // Requires that some launch can write each array that has to be written.
  void must_be_written(const toml::table& root) const;

  const KernelFile& text_;
  std::vector<DeclaredKernel> kernels_;
  struct GivenLaunch {
    const toml::table* table = nullptr;  // null: there is none
    Instantiate instantiate;
    DeclaredKernel kernel;
  };
  std::vector<GivenLaunch> launches_;
  std::vector<std::string> zeroed_arrays_;
  struct Symbol {
    const toml::node* node = nullptr;
    std::string array;                  // empty: it is set to zero
    DeclaredKernel::Parameter pointer;  // a pointer to the variable's elements, with its name
  };
  std::vector<Symbol> symbols_;
  std::vector<std::string> also_compiled_in_;  // the problem's parameters that templates' arguments name
  bool dtype_is_given_ = false;
  std::set<std::string> type_axes_;
  std::vector<std::string>
      compiled_;  // each file without comments, literals and parts that are never compiled
  std::vector<std::vector<Truth>> lines_;  // of each file of `compiled_`: the truth of its lines
  std::string code_;                       // all files of `compiled_`
  std::vector<std::string> reached_;       // the files of `compiled_` without what the kernels do not reach
  Description made_;
};

}  // namespace tunesmith
