// SPDX-License-Identifier: Apache-2.0
// A program of the build: compiles each op's base and the winners of generated/, and writes them and the
// winners' tables as one C++ file and one binary file for packed.h. A kernel without a toolchain for it, or
// one that is stale, is left out with a note; dispatch then compiles it, or uses the base. A base that does
// not compile stops the build.
//
//   tunesmith_pack GENERATED_FOLDER OUT.cpp OUT.bin DEVICES [own=OP,OP] [portfolios=TARGET,TARGET]
//   [bases=TURN/TURNS] TARGET...
//
// DEVICES: all, none, or names from generated/devices.csv, separated by commas. With own=, the files are
// those that an application adds to the library's (application_packed_files): only the bases of these ops,
// and the winners of the folder. portfolios=named compiles no portfolio: OUT.names has the names of the
// portfolios' kernels of tuned devices, one a line; with bases=1/3 every third base of a GPU is compiled, and
// the others are named too. portfolios=sampled compiles every tenth of these kernels, writes no file and says
// how many bytes all would have.

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <thread>

#include "choose/first_launches.h"
#include "choose/launch_shape.h"
#include "choose/packed_variants.h"
#include "choose/ready_configs.h"
#include "choose/winners_file.h"
#include "dispatch/packed.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "generator/target.h"
#include "generator/threads.h"
#include "kernel_file/find_op.h"
#include "runtime/cache.h"
#include "runtime/files.h"
#include "runtime/toolchain.h"

namespace tunesmith {
namespace {

using Names = std::set<std::string, std::less<>>;

Names names_of(const std::string& words) {
  Names names;
  std::istringstream list(words);
  for (std::string name; std::getline(list, name, ',');) names.insert(name);
  return names;
}

struct CompileTask {
  Source source;
  std::string base_of;  // "conv2d/base"; empty: not a base
};
using Sources = std::map<std::string, CompileTask>;  // by packed_name
using Files = std::map<std::string, std::string>;    // contents by name

void add(Sources& sources, Source source, const std::string& base_of = "") {
  std::string name = packed_name(source.target, source.hash);
  sources.emplace(std::move(name), CompileTask{std::move(source), base_of});
}

Source source_of(const PackedVariant& one, const std::string& target) {
  return render(*one.op, *one.tmpl, one.problem, one.config, target);
}

// Throws Error if the row's template gives another kernel now.
PackedVariant variant_of(const WinnersFileRow& row) {
  const Candidate& winner = row.winner;
  const Op& op = find_op(winner.op);
  const Template& tmpl = find_template(op, winner.template_name);
  const Problem problem = complete_problem(op, winner.problem);
  PackedVariant variant{&op, &tmpl, problem, tmpl.space(problem, winner.device).legal(winner.config)};
  if (source_of(variant, winner.device.target).hash != winner.source_hash)
    throw Error("its template has changed since it was tuned.");
  return variant;
}

// A GPU of this target.
DeviceFacts device_of(const std::string& target, std::span<const DeviceTable> tables) {
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const DeviceTable& one) { return one.device.target == target; });
  if (table != tables.end()) return table->device;
  const Target parsed = *Target::parse(target);
  DeviceFacts device = facts_of_capability(parsed.compute_capability);
  if (parsed.kind == Target::Kind::host) device.kind = DeviceKind::host;
  device.target = target;
  return device;
}

constexpr std::string_view only_named = "named", only_sampled = "sampled";

// The part of the bases for GPUs that is compiled: every `turns`th from the `turn`th on.
struct Turn {
  std::size_t turn = 0, turns = 1;
};

Turn parsed_turn(const std::string& text) {
  std::istringstream words(text);
  Turn its;
  char slash = 0;
  if (words >> its.turn >> slash >> its.turns && slash == '/' && words.eof() && its.turn < its.turns)
    return its;
  throw Error("bases=" + text + " must be a turn and the number of turns, such as bases=0/3.");
}

using Variants = std::map<std::string, std::vector<PackedVariant>>;  // by target

// `named` gets the winners, portfolios and bases that are chosen but not compiled, `variants` both but the
// bases.
Sources sources_to_compile(const std::vector<WinnersFileRow>& table, const std::vector<DeviceTable>& tables,
                           const std::optional<Names>& own, const Names& targets,
                           const std::optional<Names>& portfolios, Turn turn, Sources& named,
                           Variants& variants) {
  const bool are_sampled = portfolios && portfolios->contains(only_sampled);
  const bool are_named = are_sampled || (portfolios && portfolios->contains(only_named));
  Sources sources;
  std::size_t bases = turn.turn;
  for (const Op& op : ops()) {
    if (own && !own->contains(op.name)) continue;
    for (const PackedVariant& base : bases_of(op)) {
      const bool has_turn = bases++ % turn.turns == 0;
      for (const std::string& target : targets)
        add(has_turn || target == "host" ? sources : named, source_of(base, target),
            op.name + "/" + op.templates.front().name);
    }
  }
  for (const WinnersFileRow& row : table) {
    const Candidate& winner = row.winner;
    try {
      const PackedVariant variant = variant_of(row);
      const std::string& target = winner.device.target;
      if (!own && winner.device.kind != DeviceKind::host && !targets.contains(target)) continue;
      add(are_named ? named : sources, source_of(variant, target));
      variants[target].push_back(variant);
    } catch (const std::exception& error) {
      std::cerr << "tunesmith_pack: " << winner.op << "/" << winner.template_name << " for "
                << winner.problem.text() << " is left out: " << error.what() << "\n";
    }
  }
  for (const std::string& target : targets) {
    if (Target::parse(target)->kind == Target::Kind::ptx) continue;
    const bool is_named = are_sampled || (are_named && !device_of(target, tables).name.empty());
    if (portfolios && !portfolios->contains(target) && !is_named) continue;
    const auto names_defaults = [&](const Op& op) { return !own || own->contains(op.name); };
    for (PackedVariant& one : first_launches_of(device_of(target, tables), tables, names_defaults)) {
      add(is_named ? named : sources, source_of(one, target));
      variants[target].push_back(std::move(one));
    }
  }
  return sources;
}

// Shows the progress of a long compilation: a line that replaces itself on a terminal, else a line every ten
// seconds.
class Progress {
 public:
  explicit Progress(std::size_t all) : all_(all) {}
  ~Progress() {
    if (has_told_ && is_terminal_) std::cerr << "\n";
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done(std::size_t count) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(is_terminal_ ? 1 : 10);
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double left = seconds / static_cast<double>(count) * static_cast<double>(all_ - count);
    std::cerr << (is_terminal_ ? "\r" : "") << "tunesmith_pack: " << count << " of " << all_
              << " kernels are compiled, about " << std::llround(left) << " s left"
              << (is_terminal_ ? "   " : "\n") << std::flush;
    has_told_ = true;
  }

 private:
  std::size_t all_;
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  bool has_told_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_ = begin_ + std::chrono::seconds(1);
};

// Compiles the sources. A binary that an earlier build compiled from the same text with the same compiler
// comes from `cache`.
Files compile(const Sources& sources, const std::filesystem::path& cache) {
  std::map<bool, std::unique_ptr<Toolchain>> toolchains;  // true: the host's
  for (const auto& [name, wanted] : sources) {
    const bool host = wanted.source.target == "host";
    if (toolchains.contains(host)) continue;
    try {
      toolchains[host] = make_toolchain(wanted.source.target);
    } catch (const std::exception& error) {
      toolchains[host] = nullptr;
      std::cerr << "tunesmith_pack: nothing is packed for " << (host ? "the host" : "CUDA") << ": "
                << error.what() << "\n";
    }
  }
  std::filesystem::create_directories(cache);
  std::map<bool, BinaryCache> caches;
  for (const auto& [host, toolchain] : toolchains)
    if (toolchain) caches.emplace(host, cache / sha256(toolchain->identity()).substr(0, 16));
  Files files;
  std::string broken;  // the first base that does not compile
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  Progress progress(sources.size());
  const auto work = [&] {
    for (;;) {
      const std::size_t i = next++;
      if (i >= sources.size()) return;
      const auto& [name, wanted] = *std::next(sources.begin(), static_cast<std::ptrdiff_t>(i));
      const Source& source = wanted.source;
      const bool host = source.target == "host";
      const Toolchain* toolchain = toolchains.at(host).get();
      if (toolchain == nullptr) continue;
      const BinaryCache& kept = caches.at(host);
      if (auto bytes = kept.find(source)) {
        const std::scoped_lock lock(mutex);
        files[name] = std::move(*bytes);
        progress.done(++done);
        continue;
      }
      Compilation compiled = toolchain->compile(source);
      if (compiled.ok) kept.put(source, compiled.bytes);
      const std::scoped_lock lock(mutex);
      progress.done(++done);
      if (compiled.ok) {
        files[name] = std::move(compiled.bytes);
      } else if (wanted.base_of.empty() || compiled.is_unknown_target) {
        std::cerr << "tunesmith_pack: " << name << " is left out: " << compiled.log << "\n";
      } else if (broken.empty()) {
        broken = "The base " + wanted.base_of + " does not compile for " + source.target +
                 ", and dispatch falls back on it: " + located(compiled.log, source.text, template_files());
      }
    }
  };
  run_in_threads(std::max(1u, std::thread::hardware_concurrency()), work);
  for (const auto& [host, kept] : caches) kept.trim(most_cached_bytes);
  if (!broken.empty()) throw Error(broken);
  return files;
}

// Reads the files of `devices`; a missing file is empty. Throws Error naming the known devices.
std::function<std::string(std::string_view)> files_of(const std::filesystem::path& generated,
                                                      const std::string& devices) {
  const std::vector<std::string> known = tuned_devices(read_file(generated / devices_file));
  std::set<std::string> wanted = {std::string(devices_file)};  // files
  const auto want = [&](const std::string& name) {
    wanted.insert(name + ".csv");
    for (const Op& op : ops()) wanted.insert(timing_table_file(name, op.name));
  };
  if (devices == "all") {
    for (const std::string& name : known) want(name);
  } else if (devices != "none") {
    for (const std::string& name : names_of(devices)) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw Error("generated/ has no winners for the device " + name +
                    "; TUNESMITH_DEVICES may be all, none, or some of: " + listed(known) + ".");
      }
      want(name);
    }
  }
  return [=](std::string_view name) {
    return wanted.contains(std::string(name)) ? read_file(generated / name) : std::string();
  };
}

constexpr std::uintmax_t most_table_bytes = std::uintmax_t{16} << 20;  // some 20 builds with other times

// Computes the tables' factors, or takes those of an earlier build if it had the same times.
void solve(std::vector<DeviceTable>& tables, const std::filesystem::path& cache) {
  const std::string factors = ".factors";
  std::filesystem::create_directories(cache);
  for (DeviceTable& one : tables) {
    const Op& op = find_op(one.table.op);
    if (uses_launch_shapes(one.table.weights)) find_launch_shapes(op, one.device, one.table);
    const std::uint64_t key = solution_key(op, one.table);
    const std::string name = op.name + "_" + std::to_string(key);
    const std::filesystem::path kept = cache / (name + factors);
    read_factors(read_file(kept), one.table);
    if (one.table.solved_from == key) {
      std::error_code ignored;
      std::filesystem::last_write_time(kept, std::filesystem::file_time_type::clock::now(), ignored);
      continue;
    }
    solve_table(op, one.device, one.table, std::max(1u, std::thread::hardware_concurrency()));
    const std::filesystem::path part = cache / (name + "." + std::to_string(::getpid()) + factors);
    write_file(part, write_factors(one.table));
    std::filesystem::rename(part, kept);  // another build may read it now
  }
  trim_folder(cache, most_table_bytes, factors);
}

// Files that are compressed together.
struct Block {
  std::string target;              // empty: a file of its own that is no kernel
  std::vector<std::string> names;  // ordered as in the block
  std::string bytes = {};          // compressed
};

// Puts kernels of one target, those of one template beside each other, into blocks of some 1 MiB, which
// Zstandard writes back in some 1 ms. Other files are alone.
std::vector<Block> blocks_of(const Files& files, const Sources& sources) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> kinds;  // by target and kernel
  std::vector<Block> blocks;
  for (const auto& [name, content] : files) {
    if (const auto task = sources.find(name); task != sources.end())
      kinds[{task->second.source.target, task->second.source.kernels.front()}].push_back(name);
    else
      blocks.push_back({"", {name}});
  }
  std::size_t bytes = 0;
  for (const auto& [kind, names] : kinds) {
    for (const std::string& name : names) {
      const std::size_t its = files.at(name).size();
      if (blocks.empty() || blocks.back().target != kind.first || bytes + its > most_bytes) {
        blocks.push_back({kind.first, {}});
        bytes = 0;
      }
      blocks.back().names.push_back(name);
      bytes += its;
    }
  }
  std::atomic<std::size_t> next = 0;
  run_in_threads(std::max(1u, std::thread::hardware_concurrency()), [&] {
    for (std::size_t i = next++; i < blocks.size(); i = next++) {
      std::string whole;
      for (const std::string& name : blocks[i].names) whole += files.at(name);
      std::string& compressed = blocks[i].bytes;
      compressed.resize(ZSTD_compressBound(whole.size()));
      constexpr int level = 19;  // the best that needs no more memory to read
      const std::size_t size =
          ZSTD_compress(compressed.data(), compressed.size(), whole.data(), whole.size(), level);
      if (ZSTD_isError(size) != 0)
        throw Error(std::string("Zstandard cannot compress kernels: ") + ZSTD_getErrorName(size) + ".");
      compressed.resize(size);
    }
  });
  return blocks;
}

struct PackedSize {
  std::size_t kernels = 0, bytes = 0;
};

std::map<std::string, PackedSize> sizes_of(const std::vector<Block>& blocks) {
  std::map<std::string, PackedSize> sizes;  // by target
  for (const Block& block : blocks) {
    auto& [kernels, bytes] = sizes[block.target];
    kernels += block.names.size();
    bytes += block.bytes.size();
  }
  return sizes;
}

// Says the sizes of each target's kernels; returns the bytes of all files.
std::size_t say_sizes(const std::map<std::string, PackedSize>& sizes) {
  std::size_t all = 0;
  for (const auto& [target, size] : sizes) {
    all += size.bytes;
    if (!target.empty())
      std::cout << "tunesmith_pack: " << target << ": " << size.kernels << " kernels, " << size.bytes / 1024
                << " KiB\n";
  }
  return all;
}

// Says how many bytes `files` and `named` would have, from every tenth of `named`: their names are hashes, so
// this is a random sample. All of them compress a little better, since they are more alike.
void say_sampled_sizes(const Files& files, const Sources& sources, const Sources& named,
                       const std::filesystem::path& cache) {
  constexpr std::size_t every = 10;
  std::map<std::string, PackedSize> sizes = sizes_of(blocks_of(files, sources));
  Sources drawn;
  std::size_t at = 0;
  for (const auto& [name, task] : named) {
    ++sizes[task.source.target].kernels;
    if (at++ % every == 0) drawn.emplace(name, task);
  }
  for (const auto& [target, size] : sizes_of(blocks_of(compile(drawn, cache), drawn)))
    sizes[target].bytes += every * size.bytes;
  const std::size_t bytes = say_sizes(sizes);
  std::cout << "tunesmith_pack: some " << bytes / 1024 << " KiB in all\n";
}

// Adds the winners, the tables, and what has binaries; what an application adds has its own folder.
void add_tables(Files& files, const std::vector<WinnersFileRow>& rows, const std::vector<DeviceTable>& tables,
                const Variants& variants, bool are_own) {
  for (auto& [name, text] : write_solved_winners(rows, tables))
    files[(are_own ? own_folder : "") + name] = std::move(text);
  if (are_own) return;
  for (const auto& [target, its] : variants)
    for (const Op& op : ops())
      if (std::string text = write_ready_configs(op, its); !text.empty())
        files[ready_configs_file(target, op.name)] = std::move(text);
}

void run(const std::filesystem::path& generated, const std::filesystem::path& cpp,
         const std::filesystem::path& bin, const std::string& devices, const std::optional<Names>& own,
         const Names& targets, const std::optional<Names>& portfolios, Turn turn,
         const std::filesystem::path& before) {
  const auto file = files_of(generated, devices);
  const std::vector<WinnersFileRow> rows = read_winners(file);
  std::vector<DeviceTable> tables = read_timing_tables(file, ops());
  solve(tables, before);
  Sources named;
  Variants variants;
  const Sources sources = sources_to_compile(rows, tables, own, targets, portfolios, turn, named, variants);
  Files files = compile(sources, before);
  if (portfolios && portfolios->contains(only_named)) {
    std::string names;
    for (const auto& [name, source] : named) names += name + "\n";
    write_file(std::filesystem::path(bin).replace_extension(".names"), names);
  }
  const std::size_t binaries = files.size();
  add_tables(files, rows, tables, variants, own.has_value());
  if (portfolios && portfolios->contains(only_sampled)) {
    say_sampled_sizes(files, sources, named, before);
    return;
  }

  const std::string bytes_name = std::string("tunesmith_") + (own ? "own_" : "") + "packed_bytes";
  const std::vector<Block> blocks = blocks_of(files, sources);
  std::string bytes;
  std::map<std::string, std::string> entries;  // by name, as packed() searches them
  for (const Block& block : blocks) {
    std::size_t offset = 0;
    for (const std::string& name : block.names) {
      const std::size_t size = files.at(name).size();
      entries[name] = "      {{\"" + name + "\", " + std::to_string(name.size()) + "}, {" + bytes_name +
                      " + " + std::to_string(bytes.size()) + ", " +
                      std::to_string(size == 0 ? 0 : block.bytes.size()) + "}, " + std::to_string(offset) +
                      ", " + std::to_string(size) + "},\n";
      offset += size;
    }
    bytes += block.bytes;
  }
  std::string list;
  for (const auto& [name, entry] : entries) list += entry;
  write_file(bin, bytes);
  write_file(cpp,
             "// Written by tunesmith_pack.\n#include \"dispatch/packed.h\"\n\n"
             "asm(R\"(.pushsection .rodata\n.global " +
                 bytes_name + "\n.hidden " + bytes_name + "\n" + bytes_name +
                 ":\n.inc"  // in two parts, because a compiler cache keeps no source that has the word
                 "bin \"" +
                 bin.string() + "\"\n.byte 0\n.popsection)\");\n\nextern \"C\" const char " + bytes_name +
                 "[" + std::to_string(bytes.size() + 1) +
                 "];\n\nnamespace tunesmith {\nstd::span<const PackedFile> " + (own ? "application_" : "") +
                 "packed_files() {\n  static constexpr PackedFile files[] = {\n" + list +
                 "  };\n  return files;\n}\n}  // namespace tunesmith\n");
  say_sizes(sizes_of(blocks));
  std::cout << "tunesmith_pack: " << binaries << " binaries, " << bytes.size() / 1024 << " KiB\n";
}

}  // namespace
}  // namespace tunesmith

int main(int count, char** arguments) {
  if (count < 5) {
    std::cerr << "usage: tunesmith_pack GENERATED_FOLDER OUT.cpp OUT.bin DEVICES [own=OP,OP] "
                 "[portfolios=TARGET,TARGET] [bases=TURN/TURNS] "
                 "[cache=FOLDER] TARGET...\n";
    return 2;
  }
  try {
    std::optional<tunesmith::Names> own, portfolios;
    tunesmith::Names targets;
    tunesmith::Turn turn;
    std::filesystem::path cache = std::filesystem::path(arguments[2]).parent_path() / "packed_before";
    for (const std::string word : std::span(arguments, static_cast<std::size_t>(count)).subspan(5)) {
      const std::string value = word.substr(word.find('=') + 1);
      if (word.starts_with("own=")) {
        own = tunesmith::names_of(value);
      } else if (word.starts_with("portfolios=")) {
        if (value != "all") portfolios = tunesmith::names_of(value);
      } else if (word.starts_with("bases=")) {
        turn = tunesmith::parsed_turn(value);
      } else if (word.starts_with("cache=")) {
        cache = value;
      } else if (!tunesmith::Target::parse(word)) {
        throw tunesmith::Error("\"" + word +
                               "\" is no target; targets are host, or such as sm_90a and compute_75.");
      } else {
        targets.insert(word);
      }
    }
    tunesmith::run(arguments[1], arguments[2], arguments[3], arguments[4], own, targets, portfolios, turn,
                   cache);
  } catch (const std::exception& error) {
    std::cerr << "tunesmith_pack: " << error.what() << "\n";
    return 1;
  }
}
