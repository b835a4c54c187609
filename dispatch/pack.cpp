// A program of the build: compiles each op's base and the winners of generated/, and writes them and the
// winners' table as one C++ file and one binary file for packed.h. What a toolchain is missing for, or what
// is stale, is left out with a note; dispatch then compiles it, or uses the base.
//
//   tunesmith_pack GENERATED_FOLDER OUT.cpp OUT.bin TARGET...

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "dispatch/packed.h"
#include "dispatch/table.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/ops.h"
#include "runtime/cache.h"
#include "runtime/files.h"
#include "runtime/toolchain.h"

namespace tunesmith {
namespace {

// One problem for each combination of the words that the op's first template compiles in, where the op allows
// it; sizes do not matter to it.
std::vector<Problem> problems_of_base(const Op& op) {
  const std::vector<std::string>& constants = op.templates.front().compiled_in;
  std::vector<Problem> problems(1);
  for (const Parameter& parameter : op.parameters) {
    std::vector<Value> values = {parameter.initial ? *parameter.initial
                                 : parameter.is_integer()
                                     ? Value(std::max<std::int64_t>(1, parameter.minimum))
                                     : Value(parameter.words.front())};
    if (std::find(constants.begin(), constants.end(), parameter.name) != constants.end()) {
      values.assign(parameter.words.begin(), parameter.words.end());
    }
    std::vector<Problem> longer;
    for (const Problem& problem : problems) {
      for (const Value& value : values) {
        longer.push_back(problem);
        longer.back().set(parameter.name, value);
      }
    }
    problems = std::move(longer);
  }
  std::vector<Problem> allowed;
  for (const Problem& problem : problems) {
    try {
      allowed.push_back(complete_problem(op, problem));
    } catch (const UsageError&) {
      // Some words do not go together.
    }
  }
  return allowed;
}

using Sources = std::map<std::string, Source>;  // by packed_name

void add(Sources& sources, Source source) {
  std::string name = packed_name(source.target, source.hash);
  sources.emplace(std::move(name), std::move(source));
}

Sources sources_to_compile(const std::vector<TableRow>& table,
                           const std::set<std::string, std::less<>>& targets) {
  const bool with_cuda = targets.size() > (targets.contains("host") ? 1u : 0u);
  Sources sources;
  for (const Op& op : ops()) {
    for (const Problem& problem : problems_of_base(op)) {
      for (const std::string& target : targets) {
        add(sources, render(op, op.templates.front(), problem, base_config(op, problem), target));
      }
    }
  }
  for (const TableRow& row : table) {
    const Candidate& winner = row.winner;
    try {
      const Op& op = find_op(winner.op);
      const Problem problem = complete_problem(op, winner.problem);
      const Template& tmpl = find_template(op, winner.template_name);
      const Config config = tmpl.space(problem, winner.device).legal(winner.config);
      Source source = render(op, tmpl, problem, config, winner.device.target);
      if (source.hash != winner.source_hash) throw Error("its template has changed since it was exported.");
      if (winner.device.kind == "host" || with_cuda) add(sources, std::move(source));
    } catch (const std::exception& error) {
      std::cerr << "tunesmith_pack: generated/" << row.file << " is left out: " << error.what() << "\n";
    }
  }
  return sources;
}

// What an earlier build compiled from the same text with the same compiler is taken from `cache`.
std::map<std::string, std::string> compile(const Sources& sources, const std::filesystem::path& cache) {
  std::map<bool, std::unique_ptr<Toolchain>> toolchains;  // by whether it is the host's
  for (const auto& [name, source] : sources) {
    const bool host = source.target == "host";
    if (toolchains.contains(host)) continue;
    try {
      toolchains[host] = make_toolchain(source.target);
    } catch (const std::exception& error) {
      toolchains[host] = nullptr;
      std::cerr << "tunesmith_pack: nothing is packed for " << (host ? "the host" : "CUDA") << ": "
                << error.what() << "\n";
    }
  }
  std::map<std::string, std::string> files;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (;;) {
      const std::size_t i = next++;
      if (i >= sources.size()) return;
      const auto& [name, source] = *std::next(sources.begin(), static_cast<std::ptrdiff_t>(i));
      const Toolchain* toolchain = toolchains.at(source.target == "host").get();
      if (toolchain == nullptr) continue;
      const BinaryCache kept(cache / sha256(toolchain->identity()).substr(0, 16));
      if (auto bytes = kept.find(source)) {
        const std::scoped_lock lock(mutex);
        files[name] = std::move(*bytes);
        continue;
      }
      Compiled compiled = toolchain->compile(source);
      if (compiled.ok) kept.put(source, compiled.bytes);
      const std::scoped_lock lock(mutex);
      if (compiled.ok) {
        files[name] = std::move(compiled.bytes);
      } else {
        std::cerr << "tunesmith_pack: " << name << " is left out: " << compiled.log << "\n";
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  threads.clear();
  return files;
}

void run(const std::filesystem::path& generated, const std::filesystem::path& cpp,
         const std::filesystem::path& bin, const std::set<std::string, std::less<>>& targets) {
  const std::string table = read_file(generated / table_file);
  std::map<std::string, std::string> files =
      compile(sources_to_compile(read_table(table), targets), cpp.parent_path() / "packed_before");
  files[std::string(table_file)] = table;

  std::string bytes;
  std::string entries;
  for (const auto& [name, content] : files) {
    bytes.resize((bytes.size() + 63) / 64 * 64);  // binaries are loaded where they lie
    entries += "    {\"" + name + "\", {tunesmith_packed_bytes + " + std::to_string(bytes.size()) + ", " +
               std::to_string(content.size()) + "}},\n";
    bytes += content;
  }
  write_file(bin, bytes);
  write_file(cpp,
             "// Written by tunesmith_pack.\n#include \"dispatch/packed.h\"\n\n"
             "asm(R\"(.pushsection .rodata\n.balign 64\n.global tunesmith_packed_bytes\n"
             "tunesmith_packed_bytes:\n.incbin \"" +
                 bin.string() +
                 "\"\n.byte 0\n.popsection)\");\n\nextern \"C\" const char tunesmith_packed_bytes[];\n\n"
                 "namespace tunesmith {\nstd::span<const PackedFile> packed_files() {\n"
                 "  static const PackedFile files[] = {\n" +
                 entries + "  };\n  return files;\n}\n}  // namespace tunesmith\n");
  std::cout << "tunesmith_pack: " << files.size() - 1 << " binaries, " << bytes.size() / 1024 << " KiB\n";
}

}  // namespace
}  // namespace tunesmith

int main(int count, char** arguments) {
  if (count < 4) {
    std::cerr << "usage: tunesmith_pack GENERATED_FOLDER OUT.cpp OUT.bin TARGET...\n";
    return 2;
  }
  try {
    tunesmith::run(arguments[1], arguments[2], arguments[3], {arguments + 4, arguments + count});
  } catch (const std::exception& error) {
    std::cerr << "tunesmith_pack: " << error.what() << "\n";
    return 1;
  }
}
