// SPDX-License-Identifier: Apache-2.0
// Finds the types that a C++ file defines for the whole program. It relies on clang-format's layout of the
// sources: the content of a namespace is not indented, and namespaces are closed with their name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// The classes, structs, unions and enums, with qualified names ("tunesmith::Config::Axes" only if it is
/// defined outside its class). Types in an anonymous namespace or in a function belong to the file alone and
/// are left out.
std::vector<std::string> types_defined(std::string_view text);

/// The names that several of these files (path, text) define, each with the paths.
std::map<std::string, std::vector<std::string>> defined_twice(
    const std::map<std::string, std::string>& text_by_path);

}  // namespace tunesmith
