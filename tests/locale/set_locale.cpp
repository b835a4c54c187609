// SPDX-License-Identifier: Apache-2.0
// Linked into suites: if TUNESMITH_TEST_LOCALE is the folder of a locale, the suite runs in it, like an
// application that has called setlocale(LC_ALL, "") and std::locale::global().
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <locale>

namespace {

[[maybe_unused]] const bool is_set = [] {
  const char* const given = std::getenv("TUNESMITH_TEST_LOCALE");
  if (given == nullptr || *given == '\0') return false;
  const std::filesystem::path locale = given;
  ::setenv("LOCPATH", locale.parent_path().c_str(), 1);
  if (std::setlocale(LC_ALL, locale.filename().c_str()) == nullptr) {
    std::fprintf(stderr, "TUNESMITH_TEST_LOCALE is %s, which is not a locale.\n", given);
    std::exit(1);
  }
  std::locale::global(std::locale(locale.filename().c_str()));
  return true;
}();

}  // namespace
