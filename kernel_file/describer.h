// SPDX-License-Identifier: Apache-2.0
// Writes the description of a kernel from its file: the parts of describe.cpp. Private to kernel_file/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_file/c_type.h"
#include "kernel_file/description.h"
#include "kernel_file/host_code.h"
#include "kernel_file/index_bounds.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {

constexpr std::int64_t most_threads = 1024;
constexpr std::string_view components_of_dim3 = "xyz";

/// Values around the present one, which comes first.
std::vector<std::int64_t> around(std::int64_t value, std::int64_t most);

class Describer {
 public:
  Describer(const KernelFile& file, const std::string& kernel,
            const std::function<bool(const std::string&)>& is_taken, const std::vector<std::string>& beside,
            const std::vector<std::string>& include);
  std::string text();

 private:
  using Names = std::map<std::string, HostName>;
  struct Axis {
    std::string name;
    std::vector<std::int64_t> values;
    std::string comment;
  };
  struct Array {
    std::string name;
    std::vector<std::string> extents = {};
    std::string role = {}, dtype = {}, comment = {};
    std::string values = {};  // what it holds in checks; empty: any numbers
  };
  struct Size {  // a parameter of the problem
    std::optional<std::int64_t> value = std::nullopt;
    bool is_extent = false;
    std::string given = {};                     // set: the line's right side
    std::int64_t most = std::int64_t{1} << 24;  // of its usual range
    std::string comment = {};
  };

  void choose(const std::string& name);
  // True of a type with a name such as realtype or DATA_TYPE that the file and those beside it do not define.
  bool is_real_elsewhere(const std::string& type) const;
  // Adds a size that the kernel does not take, under this name or a longer one.
  std::string new_size(const std::string& wanted);
  void find_body();
  // Returns what is reached without the functions of the host.
  std::string of_device() const;
  bool reads(const std::string& name) const { return find_word(reached_, name) != std::string::npos; }
  bool reads_component(const std::string& of, char component) const;
  // True if the kernel asks for the block's size: as blockDim, or by a cooperative group.
  bool reads_block_size() const;
  // Takes the launch whose sizes are understood best.
  void choose_launch();
  static bool is_integer(const CType& type);

  // describe_constants.cpp
  void add_axis(Axis axis);
  bool is_axis(const std::string& name) const;
  // Returns the value of a template's argument in the launch; nothing: not known.
  std::optional<std::int64_t> value_of(const std::string& words);
  std::string dtype_of_type(const std::string& words) const;
  bool is_type_of_array(const std::string& type) const;
  void find_template();
  bool is_named_type(const std::string& words) const;
  // Macros and constants that kernels reach, with a number as value.
  void find_constants();
  // True if the macro is computed from another constant that may be tuned: it is no axis beside that.
  bool follows_another(const std::string& name) const;
  static bool is_in_capitals(const std::string& word);
  // True for `const int TILE = 16;` in the kernel, which stands alone in its declaration.
  bool is_local_constant(const std::string& word) const;
  std::optional<std::int64_t> constant_of(const std::string& word) const;
  // True if the kernel uses the word without any sign of a declaration.
  bool is_undeclared(const std::string& word) const;
  // Returns the value of a constant that a file beside defines.
  std::optional<std::int64_t> constant_beside(const std::string& word) const;
  // Returns the dtype of a type that a file beside defines; empty: it is none.
  std::string type_beside(const std::string& type) const;
  static std::int64_t guess_of(const std::string& word);
  void add_constant_axis(const std::string& name);

  // describe_parameters.cpp
  void find_scalars();
  // A launch in a loop gives the loop's variable: what bounds it is a rule of the problem.
  void read_loop(const std::string& parameter, const std::string& variable, Size& size);
  void add_rules_of_loops();
  // Returns the members of a struct that is given by value, as a table of TOML; "?": they cannot be given.
  std::string members_of_argument(const DeclaredKernel::Parameter& parameter, const std::string& given);
  // Returns what the host code assigns to a member of a variable, if it does so once; else an empty text.
  std::string assigned_member(const std::string& variable, const std::string& member) const;
  // Returns a floating-point argument as a number; "?": it is no number's.
  std::string real_of(const std::string& given, const CType& type);
  std::string other_real();
  void find_bounds();
  // Returns the kernel's body with those of the device functions behind it to which it gives its arrays, by
  // the names that the kernel has for their parameters.
  std::string body_with_calls() const;
  // True if the constant is defined as a number, and not by other constants.
  bool is_literal(const std::string& name) const;

  // describe_launch.cpp
  int dimensions() const;
  // The block's component if the kernel's index says it, as in blockIdx.x * 256 + threadIdx.x; else empty.
  std::string block_by_index(std::size_t i) const;
  // Names an axis for a component of a block that the kernel reads as blockDim.
  std::string new_block_axis(std::size_t i, std::size_t count) const;
  // Replaces names by what stands for them.
  static HostExpression with(const HostExpression& one,
                             const std::map<std::string, HostExpression>& meanings);
  static void gather_names(const HostExpression& one, std::set<std::string>& names);
  void find_block();
  // The only constant that the kernel calls by a name of blocks or threads; empty: there are none or several.
  std::string block_constant() const;
  // True if the host alone has all of the names.
  bool are_free(const std::set<std::string>& names) const;
  static bool is_identifier_here(const std::string& name);
  // In the grid's component, the block's own number stands for its axis: ceil_div(n, 256).
  HostExpression with_block(const HostExpression& one, std::size_t i) const;
  // Replaces axes by their present values: a size of the program does not change with them.
  HostExpression without_axes(const HostExpression& one) const;
  // Makes names that stay parameters of the problem. False: one of them cannot be.
  bool adopt(const HostExpression& one);
  // Adds the component of the grid that the kernel's own indices ask for, or "?".
  void grid_by_index(std::size_t i);
  // True if a launch covers one size of the kernel where the kernel's own index ends at another one.
  bool is_of_another_size(const HostExpression& one, std::size_t i) const;
  void find_grid();
  // A kernel without sizes and without a guard: its problem is a number of whole blocks.
  void find_unguarded();
  // Adds the number of blocks that the launch takes. A kernel with a guard may have a last block that is not
  // whole, another one has only whole blocks.
  void add_blocks(const HostExpression& one, std::size_t i);
  // A kernel without a guard takes only sizes that the launch's quotients divide.
  void add_whole_parts(const HostExpression& one);
  // A grid that is an axis with the name of a size is that size.
  void settle_grid_axes();
  // An array with an element per block or per thread of the grid: the number of blocks then is the same for
  // all configs.
  void settle_arrays_by_grid();
  // Constants of the kernel that a launch names become axes with one value.
  bool adopt_constants(const std::set<std::string>& used);
  // A grid has at most 65535 blocks in y and z: the sizes of which it takes the product end before.
  void limit_grid();

  // describe_arrays.cpp
  // Returns the dtype of the elements of all types that a sentence names, "vector is float, float2 or
  // float4"; "?": they differ.
  std::string common_dtype(const std::string& sentence) const;
  void find_arrays();
  // Returns the dtype of a struct whose members are all of one type, and their number.
  std::pair<std::string, std::int64_t> members_of(const std::string& type) const;
  void find_extents(Array& array, std::size_t i, const std::string& element);
  // Integers that the kernel uses as indices of another array, or as the places where rows begin.
  void find_indices();
  // An extent names no axis.
  bool may_be_extent(const HostExpression& one) const;
  std::string element_of_template(const std::string& type) const;
  // n * m are two extents.
  static std::vector<std::string> product_of(const HostExpression& one);

  // describe_arrays.cpp: variables and shared memory
  void find_symbols();
  std::optional<std::int64_t> value_in_kernel(const std::string& words) const;
  void find_shared();
  // A size that the host computes from others is no parameter beside them: N = B * T.
  void replace_computed();

  // describe.cpp: the text
  static void add_line(std::string& text, const std::string& line, const std::string& comment);
  std::string usual_of(const std::string& name, const Size& size, std::size_t sizes) const;
  std::string op_name() const;
  std::string written();

  const KernelFile& file_;
  const std::function<bool(const std::string&)>& is_taken_;
  std::vector<CompiledText> texts_;
  std::string code_, reached_, device_text_, host_text_, body_, with_calls_;
  const std::vector<std::string>& beside_;   // texts of other files
  const std::vector<std::string>& include_;  // folders of files that the text includes
  std::set<std::string> words_, declared_;
  DeclaredKernel kernel_;
  std::optional<HostCode> host_, reached_code_;
  std::map<std::string, std::string> macros_;
  std::optional<HostLaunch> launch_;
  HostCode::Place place_;
  std::optional<IndexBounds> bounds_;
  Names names_;                                     // the host's names in expressions
  std::map<std::string, HostExpression> meanings_;  // what stands for the host's names of block sizes
  std::map<std::size_t, std::int64_t> numbers_;     // by component: the block's number in the launch
  std::map<std::size_t, std::string> block_names_;  // and its axis
  std::vector<std::pair<HostExpression, std::string>>
      block_expressions_;                     // what the launch computes, and its axis
  std::map<std::string, std::string> types_;  // by template parameter: its dtype
  std::string dtype_, dtype_comment_, shared_, block_comment_, grid_comment_;
  std::vector<std::string> rules_, problem_rules_;
  struct LoopRule {
    std::string parameter, comparison, limit;
  };
  std::vector<LoopRule> loops_;
  std::map<std::string, std::string> grid_axes_;  // by axis: what the launch takes
  std::vector<std::string> instantiate_, compiled_in_, zeroed_, block_, grid_, arguments_, order_;
  int reals_ = 0;  // numbers that were made up
  std::map<std::string, std::int64_t> constants_;
  std::map<std::string, std::vector<std::int64_t>> compared_;
  std::set<std::string> guessed_;
  std::map<std::string, std::string> types_beside_;  // by name: what a file beside defines as its type
  std::map<std::string, Size> sizes_;
  std::map<std::string, HostExpression> computed_;   // by size: its value in other sizes
  std::map<std::string, std::string> member_names_;  // by parameter or its member, "p.n": its size
  std::map<std::string, std::string> expressions_;   // arguments that are no plain names
  std::vector<Axis> axes_;
  std::vector<Array> arrays_;
};

}  // namespace tunesmith
