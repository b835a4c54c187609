// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine_code.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tunesmith {
namespace {

constexpr Elf64_Half machine_of_cuda = 190;
constexpr Elf64_Word info_section = 0x70000000;  // SHT_CUDA_INFO: attributes of one kernel or of all

// Formats of attributes in .nv.info sections: the number of bytes of the value follows, or the value is in
// the entry.
constexpr unsigned char sized_value = 4;
constexpr unsigned char parameters_attribute = 0x0a;  // a symbol, and the place of the parameters
constexpr unsigned char externs_attribute = 0x0f;     // symbols

// Thrown if the file is no 64-bit ELF file, or is cut off.
struct Unreadable {};

template <typename T>
T read(std::string_view bytes, std::size_t at) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) throw Unreadable();
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) throw Unreadable();
  return bytes.substr(at, size);
}

template <typename T>
void add(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Section {
  std::string_view name, bytes;  // empty for a section that is only reserved
  Elf64_Shdr header{};
};

struct Symbol {
  std::string_view name;
  Elf64_Sym entry{};
};

struct Elf {
  explicit Elf(std::string_view file) {
    header = read<Elf64_Ehdr>(file, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
      throw Unreadable();
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Section& section = sections.emplace_back();
      section.header = read<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.header.sh_type != SHT_NOBITS)
        section.bytes = part(file, section.header.sh_offset, section.header.sh_size);
    }
    for (Section& section : sections) section.name = text(header.e_shstrndx, section.header.sh_name);
    for (const Section& section : sections) {
      if (section.header.sh_type != SHT_SYMTAB) continue;
      for (std::size_t at = 0; at < section.bytes.size(); at += sizeof(Elf64_Sym)) {
        const auto entry = read<Elf64_Sym>(section.bytes, at);
        symbols.push_back({text(section.header.sh_link, entry.st_name), entry});
      }
    }
  }

  std::string_view text(std::size_t table, std::size_t at) const {
    if (table >= sections.size() || at > sections[table].bytes.size()) throw Unreadable();
    const std::string_view rest = sections[table].bytes.substr(at);
    return rest.substr(0, rest.find('\0'));
  }

  Elf64_Ehdr header{};
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
};

// A file's code: each kernel's own parts, and the parts that all kernels may read.
struct Code {
  std::map<std::string, std::map<std::string, std::string>> kernels;  // by name without suffix, part, bytes
  std::map<std::string, std::string> shared;                          // by section
  std::string globals;         // variables in global memory and their addresses
  bool reads_globals = false;  // as far as the instructions show
};

class Reader {
 public:
  Reader(std::string_view file, std::string_view suffix) : elf_(file), suffix_(suffix) {}

  Code code() { return elf_.header.e_machine == machine_of_cuda ? cuda_code() : host_code(); }

 private:
  std::string plain(std::string_view name) const {
    std::string text(name);
    const std::size_t at = suffix_.empty() ? std::string::npos : text.find(suffix_);
    return at == std::string::npos ? text : text.erase(at, suffix_.size());
  }

  const Symbol& symbol(std::size_t index) const {
    if (index >= elf_.symbols.size()) throw Unreadable();
    return elf_.symbols[index];
  }

  // Returns the meaning of a symbol: a place in a section, or the name of something outside the file. Names
  // of variables do not matter.
  std::string place(std::size_t index) const {
    const Symbol& its = symbol(index);
    const std::size_t section = its.entry.st_shndx;
    if (section == SHN_UNDEF || section >= elf_.sections.size()) return plain(its.name);
    std::string text = plain(elf_.sections[section].name);
    add(text, its.entry.st_value);
    add(text, its.entry.st_size);
    return text;
  }

  // Returns the relocations, with the symbols' places instead of their numbers.
  std::string relocations(const Section& section) const {
    std::string all;
    const bool has_addend = section.header.sh_type == SHT_RELA;
    const std::size_t each = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (std::size_t at = 0; at < section.bytes.size(); at += each) {
      const auto entry = read<Elf64_Rel>(section.bytes, at);
      add(all, entry.r_offset);
      add(all, ELF64_R_TYPE(entry.r_info));
      if (has_addend) add(all, read<Elf64_Rela>(section.bytes, at).r_addend);
      all += place(ELF64_R_SYM(entry.r_info)) + ";";
    }
    return all;
  }

  // Visits the entries of an .nv.info section: the two bytes before a value, and the value.
  template <typename Visit>
  static void each_attribute(std::string_view bytes, const Visit& visit) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto format = read<unsigned char>(bytes, at), kind = read<unsigned char>(bytes, at + 1);
      const std::size_t size = format == sized_value ? read<std::uint16_t>(bytes, at + 2) : 0;
      const std::string_view head = part(bytes, at, format == sized_value ? 2 : 4);
      visit(head, kind, part(bytes, at + 4, size));
      at += 4 + size;
    }
  }

  std::string attributes(std::string_view bytes) const {
    std::string all;
    each_attribute(bytes, [&](std::string_view head, unsigned char kind, std::string_view value) {
      const bool has_symbols = kind == externs_attribute || kind == parameters_attribute;
      const std::size_t symbols = !has_symbols ? 0 : kind == externs_attribute ? value.size() / 4 : 1;
      all += head;
      for (std::size_t i = 0; i < symbols; ++i) {
        const auto index = read<std::uint32_t>(value, 4 * i);
        all += kind == externs_attribute ? place(index) : "";
      }
      all += value.substr(std::min(value.size(), 4 * symbols));
      all += ';';
    });
    return all;
  }

  // True if an instruction takes an operand from the bank of constants that holds the addresses of variables.
  // From compute capability 7.0 on an instruction has 16 bytes; the three bits from bit 9 on tell which
  // operand is a constant, and the five from bit 54 on its bank.
  static bool reads_addresses(std::string_view instructions) {
    constexpr std::uint64_t addresses = 4;
    for (std::size_t at = 0; at + 16 <= instructions.size(); at += 16) {
      const auto word = read<std::uint64_t>(instructions, at);
      const std::uint64_t form = word >> 9 & 7;
      if ((form == 3 || form == 5) && (word >> 54 & 31) == addresses) return true;
    }
    return false;
  }

  Code cuda_code() {
    Code code;
    std::vector<std::string_view> names;
    for (const Symbol& one : elf_.symbols) {
      if (ELF64_ST_TYPE(one.entry.st_info) == STT_FUNC && one.entry.st_shndx != SHN_UNDEF)
        names.push_back(one.name);
    }
    // If one name ends with another, the section belongs to the longer one.
    std::sort(names.begin(), names.end(), [](auto a, auto b) { return a.size() > b.size(); });
    for (const Section& section : elf_.sections) {
      const auto name = std::find_if(names.begin(), names.end(), [&](std::string_view one) {
        return section.name.size() > one.size() && section.name.ends_with(one) &&
               section.name[section.name.size() - one.size() - 1] == '.';
      });
      const std::string_view kind =
          name == names.end() ? section.name : section.name.substr(0, section.name.size() - name->size());
      if (name != names.end()) {
        add_part(code.kernels[plain(*name)][std::string(kind)], section);
        if (kind == ".text.") code.reads_globals = code.reads_globals || reads_addresses(section.bytes);
      } else if (section.header.sh_type == info_section) {
        each_attribute(section.bytes, [&](std::string_view head, unsigned char, std::string_view value) {
          if (value.size() < 4) return;
          const std::string kernel = plain(symbol(read<std::uint32_t>(value, 0)).name);
          code.kernels[kernel]["info"] += std::string(head) + std::string(value.substr(4)) + ";";
        });
      } else if (kind == ".nv.constant4" || kind.starts_with(".nv.global") || kind.starts_with(".rel")) {
        if (kind.find("debug") == std::string_view::npos) add_part(code.globals, section);
      } else if (kind.starts_with(".nv.constant") || kind.starts_with(".nv.shared")) {
        add_part(code.shared[std::string(kind)], section);
      }
    }
    return code;
  }

  void add_part(std::string& to, const Section& section) const {
    const Elf64_Shdr& header = section.header;
    add(to, header.sh_type);
    add(to, header.sh_flags);  // they include the number of barriers
    add(to, header.sh_size);
    if (header.sh_type == SHT_REL || header.sh_type == SHT_RELA) {
      to += relocations(section);
    } else if (header.sh_type == info_section) {
      to += attributes(section.bytes);
    } else {
      if ((header.sh_flags & SHF_EXECINSTR) != 0) add(to, header.sh_info >> 24);  // registers
      to += section.bytes;
    }
  }

  // Returns all loaded sections except tables of names; with names of the same length they lie at the same
  // places.
  Code host_code() {
    Code code;
    for (const Section& section : elf_.sections) {
      const std::string_view name = section.name;
      const bool is_content = section.header.sh_type == SHT_PROGBITS || section.header.sh_type == SHT_NOBITS;
      if (is_content && (section.header.sh_flags & SHF_ALLOC) != 0 && !name.starts_with(".eh_frame"))
        add_part(code.shared[std::string(name)], section);
    }
    return code;
  }

  Elf elf_;
  std::string_view suffix_;
};

std::optional<Code> code_of(std::string_view file, std::string_view suffix) {
  try {
    return Reader(file, suffix).code();
  } catch (const Unreadable&) {
    return std::nullopt;
  }
}

}  // namespace

std::string code_difference(std::string_view before, std::string_view suffix_before, std::string_view now,
                            std::string_view suffix_now) {
  const std::optional<Code> a = code_of(before, suffix_before);
  std::optional<Code> b = code_of(now, suffix_now);
  if (!a || !b) return "a binary that cannot be read";
  if (a->kernels.empty() && a->shared.empty()) return "no code";
  // Match by names first, so that a renamed kernel is compared only with the remaining ones.
  std::vector<std::string> renamed;
  for (const auto& [name, parts] : a->kernels) {
    const auto same = b->kernels.find(name);
    if (same == b->kernels.end()) {
      renamed.push_back(name);
    } else if (same->second != parts) {
      return "the code of the kernel " + name;
    } else {
      b->kernels.erase(same);
    }
  }
  for (const std::string& name : renamed) {
    const auto same = std::find_if(b->kernels.begin(), b->kernels.end(),
                                   [&](const auto& one) { return one.second == a->kernels.at(name); });
    if (same == b->kernels.end()) return "the kernel " + name + ", which is not there now";
    b->kernels.erase(same);
  }
  if (a->shared != b->shared) return "constants and shared memory";
  if ((a->reads_globals || b->reads_globals) && a->globals != b->globals) return "variables in global memory";
  return "";
}

}  // namespace tunesmith
