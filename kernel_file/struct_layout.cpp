// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/struct_layout.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>

#include "generator/c_characters.h"
#include "generator/number_text.h"
#include "generator/work.h"
#include "kernel_file/c_type.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

constexpr std::int64_t most_elements = 64;  // of an array in a struct
constexpr std::size_t most_members = 256;   // of an array's element, those of its structs too
constexpr int deepest = 8;                  // structs within structs, and names of names
constexpr std::int64_t widest_alignment = 16;

// The definition of a struct: what stands between its word and its brace, its members, and the names behind
// it.
struct Definition {
  std::string head, body, behind;
  bool is_within = false;  // in a namespace or in other braces
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream all(text);
  std::vector<std::string> words;
  for (std::string word; all >> word;) words.push_back(std::move(word));
  return words;
}

// Returns the definitions that give the type its name: struct NAME {…}, or typedef struct {…} NAME.
std::vector<Definition> definitions_of(const std::string& name, std::string_view text) {
  std::vector<Definition> found;
  for (std::size_t at = find_word(text, "struct"); at != std::string_view::npos;
       at = find_word(text, "struct", at + 1)) {
    const std::size_t open = text.find_first_of("{;", at);
    if (open == std::string_view::npos || text[open] != '{') continue;
    const std::size_t close = behind_close(text, open);
    if (close == std::string_view::npos) continue;
    Definition one;
    one.head = std::string(text.substr(at + 6, open - at - 6));
    // The parameter "struct S s" of a function is no definition.
    static const std::regex in_parentheses(R"(\([^()]*\))");
    if (std::regex_replace(one.head, in_parentheses, "").find_first_of("(),") != std::string::npos) continue;
    one.body = std::string(text.substr(open + 1, close - open - 2));
    const std::size_t end = std::min(text.find(';', close), text.size());
    const std::size_t statement = text.substr(0, at).find_last_of(";{}");
    const std::string_view before =
        text.substr(statement == std::string_view::npos ? 0 : statement + 1,
                    at - (statement == std::string_view::npos ? 0 : statement + 1));
    one.behind = find_word(before, "typedef") == std::string_view::npos
                     ? ""
                     : std::string(text.substr(close, end - close));
    if (find_word(one.head, name) != std::string::npos || find_word(one.behind, name) != std::string::npos) {
      const std::vector<Braces> all = outer_braces(text);
      one.is_within = std::any_of(all.begin(), all.end(), [at](const Braces& braces) {
        return braces.kind != Braces::Kind::language && braces.holds(at);
      });
      found.push_back(std::move(one));
    }
  }
  return found;
}

std::int64_t alignment_of_vector(DType dtype, std::int64_t lanes) {
  const std::int64_t size = tunesmith::bytes(dtype);
  return lanes == 3 ? size : std::min(widest_alignment, lanes * size);
}

// Leaves the statements of the body that declare members: no functions, types and constants.
std::string statements_of(const std::string& body, std::vector<std::string>& made) {
  std::string statement;
  const auto is_empty = [&] {
    return std::all_of(statement.begin(), statement.end(), [](char c) { return is_space(c); });
  };
  bool is_function = false;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const char c = body[at];
    if (c == '#') return "has a preprocessor line among its members";
    if (c == '(' && statement.find('=') == std::string::npos) {
      is_function = !std::regex_search(statement, std::regex(R"(\b(__align__|alignas|__attribute__)\s*$)"));
      const std::size_t behind = behind_close(body, at);
      if (behind == std::string::npos) return "cannot be read";
      if (!is_function) statement += body.substr(at, behind - at);
      at = behind - 1;
      continue;
    }
    if (c == '{') {
      const std::size_t behind = behind_close(body, at);
      if (behind == std::string::npos) return "cannot be read";
      if (std::regex_search(statement, std::regex(R"(\b(struct|union|class)\b[^()]*$)")))
        return "has a struct or union within";
      at = behind - 1;
      if (is_function) {
        statement.clear();
        is_function = false;
      }
      continue;
    }
    if (c == ':' && body.substr(at, 2) != "::" && (at == 0 || body[at - 1] != ':') && !is_function) {
      if (std::regex_match(statement, std::regex(R"(\s*(public|private|protected)\s*)"))) {
        if (find_word(statement, "public") == std::string::npos) return "has members that are not public";
        statement.clear();
        continue;
      }
      return "has a bit-field";
    }
    if (c != ';') {
      statement += c;
      continue;
    }
    if (std::regex_search(statement, std::regex(R"(\bvirtual\b)"))) return "has a virtual function";
    const bool is_other =
        std::regex_search(statement, std::regex(R"(^\s*(static|using|typedef|friend|enum|template)\b)"));
    if (!is_function && !is_other && !is_empty()) made.push_back(statement.substr(0, statement.find('=')));
    statement.clear();
    is_function = false;
  }
  return "";
}

StructLayout layout_of(const std::string& type, std::string_view text, bool is_element, int depth);

// Reads the extents of "name[2][3]" and takes them from the text. Returns the end of a sentence on why they
// cannot be read.
std::string take_extents(std::string& part, bool may_have_several, StructMember& member) {
  const std::size_t first = part.find('[');
  if (first == std::string::npos) return "";
  const std::string refusal = "has the array " + squeezed(part) +
                              ", whose extent must be a number from 1 to " + std::to_string(most_elements);
  std::int64_t count = 1;
  for (std::size_t open = first; open < part.size();) {
    const std::size_t close = part.find(']', open);
    if (part[open] != '[' || close == std::string::npos) return refusal;
    std::string extent = squeezed(part.substr(open + 1, close - open - 1));
    extent.erase(0, std::min(extent.find_first_not_of(' '), extent.size()));
    member.extents.push_back(parsed_number<std::int64_t>(extent).value_or(0));
    if (member.extents.back() < 1 || member.extents.back() > most_elements) return refusal;
    count *= member.extents.back();
    open = std::min(part.find_first_not_of(' ', close + 1), part.size());
  }
  if (count > most_elements || (member.extents.size() > 1 && !may_have_several)) return refusal;
  if (member.extents.size() == 1) member.extents.clear();
  member.count = count;
  part.erase(first);
  return "";
}

// Appends the members of a struct within the struct, or of an array of such.
std::string add_inner(const StructMember& member, const std::string& type, const StructLayout& inner,
                      StructLayout& made) {
  if (!inner.why.empty()) return "has the member " + member.name + ", a struct that " + inner.why;
  if (!member.extents.empty())
    return "has the member " + member.name + " of several dimensions of the type " + type;
  made.bytes = round_up(made.bytes, inner.alignment);
  made.alignment = std::max(made.alignment, inner.alignment);
  for (std::int64_t n = 0; n < std::max<std::int64_t>(member.count, 1); ++n) {
    const std::string name = member.name + (member.count > 0 ? "[" + std::to_string(n) + "]" : "") + ".";
    for (StructMember one : inner.members) {
      one.name = name + one.name;
      one.offset += made.bytes;
      made.members.push_back(std::move(one));
    }
    made.bytes += inner.bytes;
    if (made.members.size() > most_members)
      return "has more than " + std::to_string(most_members) + " members";
  }
  return "";
}

// Appends the members that a statement such as "float a, b[4]" declares.
std::string add_members(const std::string& statement, std::string_view text, bool is_element, int depth,
                        StructLayout& made) {
  if (statement.find('*') != std::string::npos || statement.find('&') != std::string::npos)
    return std::string("has a pointer among its members") +
           (is_element ? "" : "; make the array a parameter of the kernel");
  std::vector<std::string> parts = split_list(statement);
  std::string type;
  for (std::string& part : parts) {
    StructMember member;
    if (std::string why = take_extents(part, is_element, member); !why.empty()) return why;
    std::vector<std::string> words = words_of(part);
    std::erase_if(words, [](const std::string& word) { return word == "const" || word == "mutable"; });
    if (words.empty()) return "cannot be read";
    member.name = words.back();
    if (!std::all_of(member.name.begin(), member.name.end(), is_name)) return "cannot be read";
    words.pop_back();
    if (&part == parts.data())
      for (const std::string& word : words) type += (type.empty() ? "" : " ") + word;
    const CType found = c_type(type, text);
    if (!found.ambiguity.empty()) return "has the member " + member.name + ", and " + found.ambiguity;
    if (is_element && !found.dtype && depth < deepest) {
      const StructLayout inner = layout_of(type, text, true, depth + 1);
      if (!inner.members.empty() || !inner.why.empty()) {
        if (std::string why = add_inner(member, type, inner, made); !why.empty()) return why;
        continue;
      }
    }
    const bool is_wide = found.lanes > 1 || found.dtype == DType::f16 || found.dtype == DType::bf16;
    if (!found.dtype || (is_wide && !is_element))
      return "has the member " + member.name + " of the type " + type + "; members may be " +
             (is_element ? "numbers, vectors, structs of these" : "bool, integers, float, double") +
             " and arrays of these";
    member.dtype = *found.dtype;
    member.lanes = found.lanes;
    const std::int64_t alignment =
        found.lanes == 1 ? tunesmith::bytes(member.dtype) : alignment_of_vector(member.dtype, found.lanes);
    made.bytes = round_up(made.bytes, alignment);
    member.offset = made.bytes;
    made.bytes += tunesmith::bytes(member.dtype) * member.numbers();
    made.alignment = std::max(made.alignment, alignment);
    made.members.push_back(std::move(member));
    if (is_element && made.members.size() > most_members)
      return "has more than " + std::to_string(most_members) + " members";
  }
  return "";
}

// The alignment that the head of a definition asks for; 0: none, below 0: unknown.
std::int64_t asked_alignment(const std::string& head) {
  static const std::regex align(R"(\b(__align__|alignas)\s*\(\s*(\w+)\s*\))");
  std::smatch match;
  if (!std::regex_search(head, match, align)) return 0;
  return parsed_number<std::int64_t>(match[2].str()).value_or(-1);
}

StructLayout layout_of(const std::string& type, std::string_view text, bool is_element, int depth) {
  StructLayout made;
  const CType known = c_type(type, text);
  if (known.dtype && known.lanes > 1 && *known.dtype != DType::f16 && *known.dtype != DType::bf16) {
    const std::int64_t size = tunesmith::bytes(*known.dtype);
    for (int lane = 0; lane < known.lanes; ++lane)
      made.members.push_back({std::string(1, "xyzw"[lane]), lane * size, *known.dtype, 0});
    made.alignment = alignment_of_vector(*known.dtype, known.lanes);
    made.bytes = known.lanes * size;
    return made;
  }
  std::vector<std::string> words = words_of(type);
  std::erase_if(words, [](const std::string& word) { return word == "struct" || word == "const"; });
  if (words.size() != 1) return made;
  if (words.front() == "dim3" && !defines(text, "dim3")) {
    for (int lane = 0; lane < 3; ++lane)
      made.members.push_back({std::string(1, "xyz"[lane]), 4 * std::int64_t{lane}, DType::u32, 0});
    made.alignment = 4;
    made.bytes = 12;
    return made;
  }
  const std::vector<Definition> all = definitions_of(words.front(), text);
  if (all.empty()) {
    if (!is_element || depth >= deepest) return made;
    const std::vector<std::string> meanings = aliases(words.front(), text);
    return meanings.size() == 1 && meanings.front() != "struct"
               ? layout_of(meanings.front(), text, true, depth + 1)
               : made;
  }
  if (all.size() > 1 && std::any_of(all.begin(), all.end(), [&](const Definition& one) {
        return squeezed(one.body) != squeezed(all.front().body) || one.head != all.front().head;
      })) {
    made.why = "is defined more than once, so which definition is compiled is not known here";
    return made;
  }
  if (all.front().head.find(':') != std::string::npos) {
    made.why = "has a base class";
    return made;
  }
  if (is_element && depth == 0 && all.front().is_within) {
    made.why = "is defined in a namespace or within another definition";
    return made;
  }
  std::vector<std::string> statements;
  made.why = statements_of(all.front().body, statements);
  for (const std::string& statement : statements)
    if (made.why.empty()) made.why = add_members(statement, text, is_element, depth, made);
  if (made.why.empty() && made.members.empty()) made.why = "has no members";
  const std::int64_t asked = asked_alignment(all.front().head);
  made.alignment = std::max(made.alignment, asked);
  made.bytes = round_up(made.bytes, made.alignment);
  if (made.why.empty() && (asked < 0 || made.alignment > widest_alignment))
    made.why = "has an alignment that is not a number of at most " + std::to_string(widest_alignment);
  if (made.why.empty() && made.bytes % 4 != 0 && !is_element)
    made.why = "has " + std::to_string(made.bytes) + " bytes, which is no multiple of 4";
  return made;
}

}  // namespace

StructLayout struct_layout(const std::string& type, std::string_view text) {
  return layout_of(type, text, false, 0);
}

StructLayout element_layout(const std::string& type, std::string_view text) {
  return layout_of(type, text, true, 0);
}

std::string name_of_number(const StructMember& member, std::int64_t number) {
  std::string text;
  std::int64_t element = number / member.lanes;
  for (std::size_t axis = member.extents.size(); axis-- > 0; element /= member.extents[axis])
    text.insert(0, "[" + std::to_string(element % member.extents[axis]) + "]");
  if (member.count > 0 && member.extents.empty()) text = "[" + std::to_string(element) + "]";
  if (member.lanes > 1) text += std::string(".") + "xyzw"[number % member.lanes];
  return member.name + text;
}

std::string name_at(const StructLayout& layout, std::int64_t offset) {
  for (const StructMember& member : layout.members) {
    const std::int64_t number = (offset - member.offset) / bytes(member.dtype);
    if (offset >= member.offset && number < member.numbers()) return name_of_number(member, number);
  }
  return "";
}

std::string layout_assertion(const std::string& type, const StructLayout& layout) {
  std::string text = "static_assert(sizeof(" + type + ") == " + std::to_string(layout.bytes) +
                     " && alignof(" + type + ") == " + std::to_string(layout.alignment);
  for (const StructMember& member : layout.members) {
    const bool is_own = std::all_of(member.name.begin(), member.name.end(), is_name);
    text += " && TUNESMITH_OFFSET(" + type + ", " + member.name + ") == " + std::to_string(member.offset) +
            " && sizeof(" + (is_own ? type + "::" : "((" + type + "*)0)->") + member.name +
            ") == " + std::to_string(bytes(member.dtype) * member.numbers());
  }
  return text + ", \"Tunesmith read another layout of " + type + " than the compiler has\");\n";
}

}  // namespace tunesmith
