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

#include "choose/launch_shape.h"
#include "choose/packed_variants.h"
#include "choose/select.h"
#include "choose/winners_file.h"
#include "dispatch/packed.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "generator/sample.h"
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
Source source_of(const WinnersFileRow& row) {
  const Candidate& winner = row.winner;
  const Op& op = find_op(winner.op);
  const Template& tmpl = find_template(op, winner.template_name);
  const Problem problem = complete_problem(op, winner.problem);
  const Config config = tmpl.space(problem, winner.device).legal(winner.config);
  Source source = render(op, tmpl, problem, config, winner.device.target);
  if (source.hash != winner.source_hash) throw Error("its template has changed since it was tuned.");
  return source;
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

// The problem with the categories of another; nothing if they do not go with its sizes.
std::optional<Problem> with_categories_of(const Op& op, Problem problem, const Problem& other,
                                          const std::vector<std::string>& names) {
  for (const std::string& name : names) problem.set(name, *other.find(name));
  try {
    return complete_problem(op, problem);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

// For an op with few combinations of categories (types, functions): adds for each combination the templates
// whose default configs serve most of the usual problems with one binary.
void add_each_category(Sources& sources, const Op& op, const DeviceFacts& device,
                       std::span<const Problem> problems, const std::string& target) {
  constexpr std::size_t with_categories = 48;
  const bool has_table = !device.name.empty();
  const std::size_t most_combinations = has_table ? 96 : 24, most_templates = has_table ? 2 : 1;
  std::vector<std::string> names;
  for (const Template& tmpl : op.templates)
    for (const std::string& name : tmpl.compiled_in)
      if (tmpl.untuned && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  const std::vector<Problem> combinations = with_each_category(op, names);
  if (combinations.size() > most_combinations) return;
  for (const Problem& its : combinations) {
    std::vector<Problem> with_its;
    for (const Problem& problem : problems.first(std::min(problems.size(), with_categories)))
      if (auto changed = with_categories_of(op, problem, its, names)) with_its.push_back(std::move(*changed));
    std::set<const Template*> templates;
    for (const PortfolioVariant& one : untuned_of(op, device, with_its)) {
      if (one.variant.tmpl->constants || !templates.insert(one.variant.tmpl).second) continue;
      add(sources, source_of(one.variant, target));
      if (templates.size() == most_templates) break;
    }
  }
}

// Adds the kernels that start if the best choice has numbers compiled in, or is not there yet. They are
// judged on random problems; of all ops together those that save most are taken: by the known times of any
// device of that kind, and by the configs that templates name without measurements.
void add_portfolio(Sources& sources, std::span<const DeviceTable> tables, const std::string& target,
                   const std::optional<Names>& own) {
  constexpr std::size_t drawn = 600;  // problems of an op; a choice for one takes some 0.2 ms
  const DeviceFacts device = device_of(target, tables);
  const bool has_table = !device.name.empty();
  const std::size_t most_measured = has_table ? 620 : 40, most_defaults = has_table ? 60 : 20;
  std::vector<PortfolioVariant> measured, defaults;
  const auto add_all = [](std::vector<PortfolioVariant> its, std::vector<PortfolioVariant>& all) {
    std::move(its.begin(), its.end(), std::back_inserter(all));
  };
  for (const Op& op : ops()) {
    const std::vector<Problem> problems = sample_problems(op, drawn, 1);
    std::vector<Candidate> candidates;
    for (const DeviceTable& read : tables) {
      if (read.table.op != op.name || read.device.kind != device.kind) continue;
      std::vector<Candidate> its = candidates_of(read);
      std::move(its.begin(), its.end(), std::back_inserter(candidates));
    }
    if (!candidates.empty()) {
      const Chooser chooser(op, device, candidates);
      add_all(portfolio_of(op, chooser, candidates, problems, false, true), measured);
    }
    if (device.kind == DeviceKind::cuda && !(own && !own->contains(op.name))) {
      add_all(untuned_of(op, device, problems), defaults);
      add_each_category(sources, op, device, problems, target);
    }
  }
  const auto add_first = [&](std::vector<PortfolioVariant>& all, std::size_t most) {
    std::stable_sort(all.begin(), all.end(),
                     [](const PortfolioVariant& a, const PortfolioVariant& b) { return a.gain > b.gain; });
    all.resize(std::min(all.size(), most));
    for (const PortfolioVariant& its : all) add(sources, source_of(its.variant, target));
  };
  add_first(measured, most_measured);
  add_first(defaults, most_defaults);
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

// `named` gets the winners, portfolios and bases that are chosen but not compiled.
Sources sources_to_compile(const std::vector<WinnersFileRow>& table, const std::vector<DeviceTable>& tables,
                           const std::optional<Names>& own, const Names& targets,
                           const std::optional<Names>& portfolios, Turn turn, Sources& named) {
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
      Source source = source_of(row);
      if (own || winner.device.kind == DeviceKind::host || targets.contains(winner.device.target))
        add(are_named ? named : sources, std::move(source));
    } catch (const std::exception& error) {
      std::cerr << "tunesmith_pack: " << winner.op << "/" << winner.template_name << " for "
                << winner.problem.text() << " is left out: " << error.what() << "\n";
    }
  }
  for (const std::string& target : targets) {
    if (Target::parse(target)->kind == Target::Kind::ptx) continue;
    const bool is_named = are_sampled || (are_named && !device_of(target, tables).name.empty());
    if (portfolios && !portfolios->contains(target) && !is_named) continue;
    add_portfolio(is_named ? named : sources, tables, target, own);
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

void run(const std::filesystem::path& generated, const std::filesystem::path& cpp,
         const std::filesystem::path& bin, const std::string& devices, const std::optional<Names>& own,
         const Names& targets, const std::optional<Names>& portfolios, Turn turn,
         const std::filesystem::path& before) {
  const auto file = files_of(generated, devices);
  const std::vector<WinnersFileRow> rows = read_winners(file);
  std::vector<DeviceTable> tables = read_timing_tables(file, ops());
  solve(tables, before);
  Sources named;
  const Sources sources = sources_to_compile(rows, tables, own, targets, portfolios, turn, named);
  Files files = compile(sources, before);
  if (portfolios && portfolios->contains(only_named)) {
    std::string names;
    for (const auto& [name, source] : named) names += name + "\n";
    write_file(std::filesystem::path(bin).replace_extension(".names"), names);
  }
  const std::size_t binaries = files.size();
  if (portfolios && portfolios->contains(only_sampled)) {
    for (auto& [name, text] : write_solved_winners(rows, tables)) files[name] = text;
    say_sampled_sizes(files, sources, named, before);
    return;
  }
  for (auto& [name, text] : write_solved_winners(rows, tables)) files[(own ? own_folder : "") + name] = text;

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
