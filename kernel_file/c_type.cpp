// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/c_type.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/c_characters.h"

namespace tunesmith {
namespace {

constexpr std::pair<std::string_view, DType> names[] = {
    {"float", DType::f32},     {"double", DType::f64},       {"half", DType::f16},
    {"__half", DType::f16},    {"nv_bfloat16", DType::bf16}, {"__nv_bfloat16", DType::bf16},
    {"bool", DType::boolean},  {"int8_t", DType::i8},        {"uint8_t", DType::u8},
    {"int16_t", DType::i16},   {"uint16_t", DType::u16},     {"int32_t", DType::i32},
    {"uint32_t", DType::u32},  {"int64_t", DType::i64},      {"uint64_t", DType::u64},
    {"size_t", DType::u64},    {"ptrdiff_t", DType::i64},    {"intptr_t", DType::i64},
    {"uintptr_t", DType::u64}, {"uchar", DType::u8},         {"ushort", DType::u16},
    {"uint", DType::u32},      {"ulong", DType::u64}};

constexpr std::pair<std::string_view, DType> vectors[] = {
    {"char", DType::i8},      {"uchar", DType::u8},      {"short", DType::i16}, {"ushort", DType::u16},
    {"int", DType::i32},      {"uint", DType::u32},      {"long", DType::i64},  {"ulong", DType::u64},
    {"longlong", DType::i64}, {"ulonglong", DType::u64}, {"float", DType::f32}, {"double", DType::f64}};

constexpr std::string_view pairs[][2] = {{"half2", "half"},
                                         {"__half2", "half"},
                                         {"nv_bfloat162", "nv_bfloat16"},
                                         {"__nv_bfloat162", "nv_bfloat16"}};

template <std::size_t N>
std::optional<DType> found(const std::pair<std::string_view, DType> (&all)[N], std::string_view name) {
  for (const auto& [known, dtype] : all)
    if (known == name) return dtype;
  return std::nullopt;
}

// The dtype of C's integer words in any order, such as "long unsigned int".
std::optional<DType> integer_of(const std::vector<std::string>& words) {
  int longs = 0, shorts = 0, chars = 0, ints = 0, unsigneds = 0;
  for (const std::string& word : words) {
    if (word == "long") {
      ++longs;
    } else if (word == "short") {
      ++shorts;
    } else if (word == "char") {
      ++chars;
    } else if (word == "int") {
      ++ints;
    } else if (word == "unsigned") {
      ++unsigneds;
    } else if (word != "signed") {
      return std::nullopt;
    }
  }
  const bool is_unsigned = unsigneds > 0;
  if (chars > 0) return is_unsigned ? DType::u8 : DType::i8;
  if (shorts > 0) return is_unsigned ? DType::u16 : DType::i16;
  if (longs > 0) return is_unsigned ? DType::u64 : DType::i64;
  return is_unsigned ? DType::u32 : DType::i32;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// True if the text ends with the words before an enumeration's name.
bool is_enum(std::string_view text) {
  for (const std::string_view scope : {"class", "struct"})
    if (text.ends_with(scope)) text = trimmed(text.substr(0, text.size() - scope.size()));
  return text.ends_with("enum");
}

}  // namespace

std::vector<std::string> aliases(std::string_view name, std::string_view text) {
  constexpr std::size_t longest = 200;  // no type has more characters
  std::vector<std::string> meanings;
  const auto add = [&](std::string_view meaning) {
    std::string words;
    for (const char c : trimmed(meaning))
      if (!is_space(c) || words.back() != ' ') words += is_space(c) ? ' ' : c;
    if (words.empty() || words == name) return;
    if (std::find(meanings.begin(), meanings.end(), words) == meanings.end())
      meanings.push_back(std::move(words));
  };
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_name(text[at - 1])) || (end < text.size() && is_name(text[end]))) continue;
    const std::size_t from = at > longest ? at - longest : 0;
    std::string_view before = text.substr(from, at - from);
    const std::string_view behind = text.substr(end, longest);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    if (const std::string_view words = trimmed(line); words.starts_with('#') && words.ends_with("define")) {
      add(behind.substr(0, behind.find('\n')));
      continue;
    }
    if (const std::size_t statement = before.find_last_of(";{}"); statement != std::string_view::npos)
      before.remove_prefix(statement + 1);
    before = trimmed(before);
    const std::string_view next = trimmed(behind);
    if (before.ends_with("using") && next.starts_with('=')) {
      add(next.substr(1, next.find(';') - 1));
    } else if (const std::size_t word = before.find("typedef");
               word != std::string_view::npos && next.starts_with(';')) {
      add(before.substr(word + 7));
    } else if (is_enum(before) && (next.starts_with('{') || next.starts_with(':'))) {
      add(next.starts_with('{') ? "int" : next.substr(1, next.find_first_of("{;") - 1));
    } else if (next.starts_with(';') &&
               trimmed(text.substr(0, at)).ends_with('}')) {  // typedef enum { … } name;
      const std::size_t open = text.rfind('{', at);
      std::string_view head = trimmed(text.substr(0, open == std::string_view::npos ? 0 : open));
      if (const std::size_t last = head.find_last_of(";{}"); last != std::string_view::npos)
        head.remove_prefix(last + 1);
      if (const std::string_view words = trimmed(head); words.starts_with("typedef enum")) add("int");
    } else if (before.ends_with("struct") || before.ends_with("class") || before.ends_with("union")) {
      if (next.starts_with('{') || next.starts_with(':')) add("struct");
    }
  }
  return meanings;
}

std::int64_t CType::alignment() const {
  constexpr std::int64_t widest = 16;
  if (!dtype) return widest;
  return lanes == 3 ? bytes(*dtype) : std::min(widest, lanes * bytes(*dtype));
}

namespace {

// Lists alternatives: "int, float or double".
std::string alternatives(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + all[i];
  return text;
}

CType read_type(std::string type, std::string_view text, int depth) {
  CType made;
  made.is_pointer_to_pointer = std::count(type.begin(), type.end(), '*') > 1;
  constexpr int most_aliases = 8;
  for (; depth < most_aliases; ++depth) {
    for (std::size_t at; (at = type.find("std::")) != std::string::npos;) type.erase(at, 5);
    std::replace(type.begin(), type.end(), '*', ' ');
    std::istringstream all(type);
    std::vector<std::string> words;
    for (std::string word; all >> word;)
      if (word != "const" && word != "volatile" && word != "struct" && word != "enum" && word != "typename")
        words.push_back(word);
    if (words.empty()) return made;
    if ((made.dtype = integer_of(words))) return made;
    if (words.size() > 1) return made;
    const std::string& name = words.front();
    if (!std::all_of(name.begin(), name.end(), is_name)) return made;
    // The text's own meaning comes first, because it may call a type of its own "half".
    if (const std::vector<std::string> meanings = aliases(name, text); meanings.size() == 1) {
      made.is_pointer_to_pointer |= meanings.front().find('*') != std::string::npos;
      type = meanings.front();
      continue;
    } else if (meanings.size() > 1) {
      const CType first = read_type(meanings.front(), text, depth + 1);
      for (const std::string& meaning : meanings) {
        const CType one = read_type(meaning, text, depth + 1);
        const bool is_pointer = meaning.find('*') != std::string::npos;
        if (is_pointer || !one.dtype || one.dtype != first.dtype || one.lanes != first.lanes)
          return {.ambiguity = name + " is " + alternatives(meanings)};
      }
      made.dtype = first.dtype;
      made.lanes = first.lanes;
      return made;
    }
    if ((made.dtype = found(names, name))) return made;
    for (const auto& [pair, single] : pairs) {
      if (name != pair) continue;
      made.dtype = found(names, single);
      made.lanes = 2;
      return made;
    }
    std::string_view vector = name;  // float4, double4_32a
    for (const std::string_view aligned : {"_16a", "_32a"})
      if (vector.ends_with(aligned)) {
        vector.remove_suffix(aligned.size());
        break;
      }
    const bool is_vector = vector.size() > 1 && vector.back() >= '1' && vector.back() <= '4';
    if (is_vector && (made.dtype = found(vectors, vector.substr(0, vector.size() - 1))))
      made.lanes = vector.back() - '0';
    return made;
  }
  return made;
}

}  // namespace

bool defines(std::string_view text, std::string_view name) { return !aliases(name, text).empty(); }

CType c_type(std::string type, std::string_view text) { return read_type(std::move(type), text, 0); }

}  // namespace tunesmith
