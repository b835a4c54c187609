// SPDX-License-Identifier: Apache-2.0
// Which types a C++ file defines for the whole program. It reads the layout that clang-format gives the
// sources: what stands in a namespace is not indented, and namespaces are closed with their name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// Classes, structs, unions and enums, qualified ("tunesmith::Config::Axes" only where it is defined outside
/// its class). What an anonymous namespace or a function holds is the file's own and left out.
std::vector<std::string> types_defined(std::string_view text);

/// The names that several of these files (path, text) define, each with the paths.
std::map<std::string, std::vector<std::string>> defined_twice(
    const std::map<std::string, std::string>& text_by_path);

}  // namespace tunesmith
