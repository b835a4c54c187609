// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/loops.h"

#include <algorithm>
#include <map>
#include <vector>

#include "kernel_file/c_tokens.h"

namespace tunesmith {
namespace {

using LoopNames = std::set<std::string, std::less<>>;

// By name, the names in what is assigned to it anywhere.
std::map<std::string, LoopNames, std::less<>> sources_of(const Tokens& tokens) {
  std::map<std::string, LoopNames, std::less<>> sources;
  for (std::size_t n = 0; n + 1 < tokens.size(); ++n) {
    if (!tokens[n].is_word()) continue;
    std::size_t from = n + 1;
    const bool is_compound = from + 1 < tokens.size() && tokens[from + 1].text == "=" &&
                             std::string_view("+-*/%&|^").find(tokens[from].text) != std::string_view::npos;
    if (is_compound) ++from;
    if (tokens[from].text != "=" || (from + 1 < tokens.size() && tokens[from + 1].text == "=")) continue;
    LoopNames& names = sources[std::string(tokens[n].text)];
    for (std::size_t at = from + 1; at < tokens.size() && tokens[at].text != ";"; ++at)
      if (tokens[at].is_word()) names.emplace(tokens[at].text);
  }
  return sources;
}

}  // namespace

std::set<std::string, std::less<>> names_in_loop_ends(std::string_view code, bool& is_any) {
  const Tokens tokens = tokens_of(code, 0, code.size());
  const auto sources = sources_of(tokens);
  const auto with_sources = [&](std::size_t begin, std::size_t end) {
    LoopNames all;
    std::vector<std::string_view> left;
    const auto add = [&](std::string_view name) {
      if (all.emplace(name).second) left.push_back(name);
    };
    for (std::size_t n = begin; n < end; ++n)
      if (tokens[n].is_word()) add(tokens[n].text);
    while (!left.empty()) {
      const auto found = sources.find(left.back());
      left.pop_back();
      if (found == sources.end()) continue;
      for (const std::string& name : found->second) add(name);
    }
    return all;
  };
  LoopNames names;
  for (std::size_t n = 0; n + 1 < tokens.size(); ++n) {
    const std::string_view word = tokens[n].text;
    if (word == "goto") is_any = true;
    if ((word != "for" && word != "while") || tokens[n + 1].text != "(") continue;
    const std::size_t end = behind_bracket(tokens, n + 1);
    std::size_t begin = n + 2, close = end - 1;
    if (word == "for") {
      std::vector<std::size_t> parts;
      for (std::size_t at = begin; at < close; ++at)
        if (tokens[at].text == ";") parts.push_back(at);
      if (parts.size() != 2) continue;
      const LoopNames first = with_sources(begin, parts[0]);
      const bool is_shared = std::any_of(first.begin(), first.end(), [&](const std::string& name) {
        return name == "threadIdx" || name == "blockIdx";
      });
      if (is_shared) continue;
      begin = parts[0] + 1;
      close = parts[1];
    }
    LoopNames found = with_sources(begin, close);
    if (found.empty() || found.contains("true")) is_any = true;
    names.merge(found);
  }
  return names;
}

}  // namespace tunesmith
