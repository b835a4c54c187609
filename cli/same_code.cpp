// SPDX-License-Identifier: Apache-2.0
#include "cli/same_code.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "generator/shell.h"
#include "generator/threads.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"
#include "runtime/machine_code.h"
#include "runtime/toolchain.h"

namespace tunesmith {
namespace {

using State = MeasuredKernel::State;

struct Rendered {
  Source source;
  std::string compiled_in;
};

// Renders the kernel. Throws Error if it does not exist.
Rendered rendered(const MeasuredKernel& kernel, const Files* files) {
  const Op& op = find_op(kernel.op);
  const Template& tmpl = find_template(op, kernel.template_name);
  const Problem problem = complete_problem(op, Problem::parse(kernel.problem));
  if (const auto why = why_not(tmpl, problem, kernel.device)) throw Error(*why);
  const Config config = tmpl.space(problem, kernel.device).legal(Values::parse(kernel.config));
  return {render(op, tmpl, problem, config, kernel.device.target, files == nullptr ? files_of(op) : *files),
          compiled_in(op, tmpl, problem).text()};
}

// Returns the texts below templates/ of a checkout.
Files files_in(const std::filesystem::path& folder) {
  static constexpr std::array<std::string_view, 4> kinds = {".cu", ".cuh", ".inl", ".h"};
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (entry.is_regular_file() && std::find(kinds.begin(), kinds.end(), path.extension()) != kinds.end())
      files[path.lexically_relative(folder).generic_string()] = read_file(path);
  }
  return files;
}

std::string output_of(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw Error("The command " + command + " cannot be run.");
  std::string text;
  std::array<char, 1 << 16> piece;
  for (std::size_t count; (count = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    text.append(piece.data(), count);
  return ::pclose(pipe) == 0 ? text : throw Error(text);
}

// Returns the suffix, such as "_1f2e3d4c", from the line that render() writes after the constants.
std::string suffix_of(const std::string& text) {
  static constexpr std::string_view definition = "#define ENTRY(name) name##";
  const std::size_t at = text.find(definition);
  if (at == std::string::npos) return "";
  return text.substr(at + definition.size(), text.find('\n', at) - at - definition.size());
}

// Kernels with the same two texts, which are to be compared.
using Pair = std::vector<MeasuredKernel*>;

void set(const Pair& pair, State state, const std::string& why, const std::string& binary = "") {
  for (MeasuredKernel* kernel : pair) {
    kernel->state = state;
    kernel->why = why;
    if (kernel->keeps_binary) kernel->binary = binary;
  }
}

// NVRTC may order instructions differently if a text has one comment more, so one text has several machine
// codes. This many comments are tried to find a code that both texts have, but only for templates most of
// whose kernels are the same: otherwise a template whose code has changed would take all tries for each
// kernel.
constexpr int most_comments = 40;

Source with_comments(Source source, int count) {
  for (int n = 0; n < count; ++n) source.text.insert(0, "//\n");
  return source;
}

// True if one of the texts, with some comments added, has the code that the other has without.
bool share_a_code(const Source& before, const Compilation& old_code, const Source& now,
                  const Compilation& code, const Toolchain& toolchain, int comments) {
  for (int count = 1; count <= comments; ++count) {
    const Compilation old_again = toolchain.compile(with_comments(before, count));
    if (old_again.ok && code_difference(old_again.bytes, before.suffix, code.bytes, now.suffix).empty())
      return true;
    const Compilation again = toolchain.compile(with_comments(now, count));
    if (again.ok && code_difference(old_code.bytes, before.suffix, again.bytes, now.suffix).empty())
      return true;
  }
  return false;
}

void compare(const Pair& pair, const OldText& old_text, const Toolchain& toolchain, int comments) {
  const MeasuredKernel& kernel = *pair.front();
  Source before;
  try {
    before.text = old_text(kernel);
  } catch (const std::exception& error) {
    return set(pair, State::not_found, "Its older text cannot be rendered: " + std::string(error.what()));
  }
  before.suffix = suffix_of(before.text);
  before.target = kernel.device.target;
  before.hash = kernel.hash;
  before.kernels = kernel.now.kernels;
  if (before.suffix.empty() || (!kernel.hash.empty() && !kernel.hash.starts_with(before.suffix.substr(1)))) {
    return set(pair, State::not_found,
               "Its older text is another one: it has the identity " +
                   (before.suffix.empty() ? "of no kernel" : before.suffix.substr(1)) + ", and " +
                   kernel.hash.substr(0, 8) + " was measured.");
  }
  const Compilation old_code = toolchain.compile(before), code = toolchain.compile(kernel.now);
  if (!old_code.ok || !code.ok) {
    return set(pair, State::not_compiled,
               std::string("Its ") + (old_code.ok ? "newer" : "older") + " text does not compile with " +
                   toolchain.identity() + ": " + (old_code.ok ? code : old_code).log);
  }
  const std::string difference =
      code_difference(old_code.bytes, before.suffix, code.bytes, kernel.now.suffix);
  if (difference.empty() || share_a_code(before, old_code, kernel.now, code, toolchain, comments))
    return set(pair, State::same, "", code.bytes);
  set(pair, State::differs, "Its machine code has changed: " + difference + ".");
}

}  // namespace

OldText old_text_from(const std::filesystem::path& old) {
  if (std::filesystem::is_directory(old)) {
    const std::filesystem::path folder = old / "templates";
    if (!std::filesystem::is_directory(folder))
      throw UsageError(
          "The folder " + old.string() +
          " has no folder templates, so it is no checkout of Tunesmith; give one, or an older program.");
    return [files = std::make_shared<const Files>(files_in(folder))](const MeasuredKernel& kernel) {
      return rendered(kernel, files.get()).source.text;
    };
  }
  if (!std::filesystem::is_regular_file(old))
    throw UsageError("There is no " + old.string() +
                     "; give an older tunesmith program, or a checkout with its templates.");
  // Without a folder the shell would search for it in PATH.
  return [program = shell_word(std::filesystem::absolute(old).string())](const MeasuredKernel& kernel) {
    return output_of(program + " render " + shell_word(kernel.op) + " --problem " +
                     shell_word(kernel.problem) + " --template " + shell_word(kernel.template_name) +
                     " --config " + shell_word(kernel.config) + " --target " +
                     shell_word(kernel.device.target) + " 2>&1");
  };
}

void render_now(std::span<MeasuredKernel* const> kernels, std::size_t threads) {
  std::atomic<std::size_t> next = 0;
  run_in_threads(threads, [&] {
    for (std::size_t at; (at = next.fetch_add(1)) < kernels.size();) {
      MeasuredKernel& kernel = *kernels[at];
      try {
        Rendered now = rendered(kernel, nullptr);
        kernel.now = std::move(now.source);
        kernel.compiled_in = std::move(now.compiled_in);
        kernel.state = kernel.now.hash == kernel.hash ? State::unchanged : State::differs;
      } catch (const std::exception& error) {
        kernel.state = State::lost;
        kernel.why = "This program has no such kernel: " + std::string(error.what());
      }
    }
  });
}

void compare_code(std::span<MeasuredKernel* const> kernels, const OldText& old_text, std::size_t threads,
                  const std::function<void(const std::string&)>& say) {
  std::map<std::string, std::unique_ptr<Toolchain>> toolchains;
  std::map<std::string, Pair> by_texts;
  for (MeasuredKernel* kernel : kernels) {
    if (kernel->state != State::differs) continue;
    std::unique_ptr<Toolchain>& toolchain = toolchains[kernel->device.target];
    if (!toolchain) toolchain = make_toolchain(kernel->device.target);
    // If the measured text is not known, the current text distinguishes the kernels.
    by_texts[kernel->device.target + " " + kernel->hash + " " + kernel->now.hash].push_back(kernel);
  }

  constexpr std::chrono::seconds between_lines(5);
  auto said = std::chrono::steady_clock::now();
  const auto compare_all = [&](const std::vector<const Pair*>& pairs, int comments) {
    std::mutex mutex;
    std::size_t done = 0;
    std::atomic<std::size_t> next = 0;
    run_in_threads(threads, [&] {
      for (std::size_t at; (at = next.fetch_add(1)) < pairs.size();) {
        const Pair& pair = *pairs[at];
        compare(pair, old_text, *toolchains.at(pair.front()->device.target), comments);
        const std::scoped_lock lock(mutex);
        ++done;
        if (const auto now = std::chrono::steady_clock::now(); now - said >= between_lines) {
          said = now;
          say("Compared " + std::to_string(done) + " of " + counted(pairs.size(), "changed kernel") + ".");
        }
      }
    });
  };
  std::vector<const Pair*> all, again;
  for (const auto& [key, pair] : by_texts) all.push_back(&pair);
  compare_all(all, 0);

  struct Counts {
    std::size_t same = 0, differs = 0;
  };
  std::map<std::string, Counts> of_template;
  const auto counts_of = [&](const Pair& pair) -> Counts& {
    return of_template[pair.front()->op + "/" + pair.front()->template_name];
  };
  for (const Pair* const pair : all) {
    counts_of(*pair).same += pair->front()->state == State::same;
    counts_of(*pair).differs += pair->front()->state == State::differs;
  }
  for (const Pair* const pair : all) {
    const Counts& counts = counts_of(*pair);
    if (pair->front()->state == State::differs && counts.differs * 3 <= counts.same) again.push_back(pair);
  }
  compare_all(again, most_comments);
}

}  // namespace tunesmith
