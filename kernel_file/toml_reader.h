// SPDX-License-Identifier: Apache-2.0
// Reads TOML with errors that name the file, the line, the value and what is allowed. Private to
// kernel_file/.
#pragma once

#include <stdexcept>

// Some assumptions of toml++ are false for damaged texts; with NDEBUG the compiler would rely on them. So
// NDEBUG is off here, and a false assumption throws.
namespace tunesmith {
constexpr void require_toml(bool holds) {
  if (!holds) throw std::logic_error("a key or a value has no form that TOML knows");
}
}  // namespace tunesmith
#undef NDEBUG
#define TOML_ASSERT(condition) tunesmith::require_toml(static_cast<bool>(condition))
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tunesmith {

/// Parses a TOML text. Error messages use `what` ("The description") for the text and `file` for its name.
/// Throws UsageError.
toml::table parse_toml(const std::string& text, const std::string& file, const std::string& what);

class TomlReader {
 public:
  /// `file` is the name in error messages.
  explicit TomlReader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void refuse(const toml::node* node, const std::string& sentence) const;
  static std::string shown(const toml::node& node);
  const std::string& text(const toml::node& node, const std::string& key) const;
  // Returns a text that may stand in a comment of a variant.
  std::string line(const toml::node& node, const std::string& key) const;
  std::int64_t integer(const toml::node& node, const std::string& key, std::int64_t least,
                       std::int64_t most) const;
  double real(const toml::node& node, const std::string& key, double least) const;
  const toml::array& list(const toml::node& node, const std::string& key, const std::string& of) const;
  std::vector<std::string> texts(const toml::node& node, const std::string& key) const;
  // Returns a table of the root; null if it is missing.
  const toml::table* table(const toml::table& root, const std::string& key) const;
  void only_keys(const toml::table& given, const std::string& what,
                 const std::vector<std::string>& known) const;
  // Returns the entries in the order of the text.
  static std::vector<std::pair<std::string, const toml::node*>> entries(const toml::table& given);

 private:
  std::string file_;
};

}  // namespace tunesmith
