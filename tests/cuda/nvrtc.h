// SPDX-License-Identifier: Apache-2.0
// NVRTC for a test. The test is skipped with the reason if there is no NVRTC.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "generator/error.h"
#include "runtime/toolchain.h"

namespace tunesmith {

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    try {
      toolchain_ = make_nvrtc_toolchain();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Toolchain> toolchain_;
};

/// The names in a cubin's symbol tables.
inline std::set<std::string> symbols_of(std::string_view cubin) {
  const auto at = [&]<typename T>(std::size_t offset, T value) {
    if (offset + sizeof(T) <= cubin.size()) std::memcpy(&value, cubin.data() + offset, sizeof(T));
    return value;
  };
  std::set<std::string> names;
  const auto header = at(0, Elf64_Ehdr{});
  const auto section = [&](std::size_t n) {
    return at(header.e_shoff + n * header.e_shentsize, Elf64_Shdr{});
  };
  for (std::size_t n = 0; n < header.e_shnum; ++n) {
    const Elf64_Shdr table = section(n);
    if (table.sh_type != SHT_SYMTAB || table.sh_entsize == 0) continue;
    const std::size_t strings = section(table.sh_link).sh_offset;
    for (std::size_t s = 0; s < table.sh_size / table.sh_entsize; ++s) {
      const std::size_t name = strings + at(table.sh_offset + s * table.sh_entsize, Elf64_Sym{}).st_name;
      if (name < cubin.size()) names.insert(std::string(cubin.substr(name, cubin.find('\0', name) - name)));
    }
  }
  return names;
}

/// The kernels and constants that the template and its work name and the cubin lacks.
inline std::string missing_symbols(const Template& tmpl, const Work& work, const Source& source,
                                   std::string_view cubin) {
  const std::vector<std::string>& kernels = tmpl.generated ? source.kernels : tmpl.kernels;
  std::set<std::string> wanted(kernels.begin(), kernels.end());
  for (const Step& step : work.steps) {
    if (const auto* launch = std::get_if<Launch>(&step)) wanted.insert(launch->kernel);
    if (const auto* copy = std::get_if<ConstantCopy>(&step)) wanted.insert(copy->symbol);
  }
  const std::set<std::string> found = symbols_of(cubin);
  std::string missing;
  for (const std::string& name : wanted) {
    if (!found.contains(name + source.suffix)) missing += (missing.empty() ? "" : ", ") + name;
  }
  return missing;
}

}  // namespace tunesmith
