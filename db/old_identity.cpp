#include "db/old_identity.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>

#include "db/device_row.h"
#include "generator/error.h"
#include "generator/hash.h"

extern "C" const char tunesmith_old_templates[];
extern "C" const char tunesmith_old_templates_end[];

namespace tunesmith {
namespace {

// "@@@ PATH", then the file, and so on.
Files read_old_files() {
  constexpr std::string_view mark = "@@@ ";
  std::string_view text(tunesmith_old_templates,
                        static_cast<std::size_t>(tunesmith_old_templates_end - tunesmith_old_templates));
  Files files;
  while (text.starts_with(mark)) {
    const std::size_t line = text.find('\n');
    const std::size_t next = std::min(text.find("\n@@@ ", line), text.size() - 1) + 1;
    files.emplace(text.substr(mark.size(), line - mark.size()), text.substr(line + 1, next - line - 1));
    text.remove_prefix(next);
  }
  return files;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The hash that schema 2 had of the variant: its suffix came from the text before and after ENTRY's line, and
// the identity from the whole.
std::string text_hash(const Source& source) {
  const std::string entry = "#define ENTRY(name) name##" + source.suffix;
  const std::size_t at = source.text.find(entry);
  const std::string head = source.text.substr(0, at);
  std::string tail = source.text.substr(at + entry.size());
  const std::size_t body = tail.find('\n', tail.find("// ---- templates/")) + 1;
  const std::size_t end =
      source.target == "host" ? tail.rfind("\n// ---- entries for the host\n") : tail.size();
  const std::string suffix = "_" + sha256(head + tail.substr(body, end - body)).substr(0, 8);
  replace_all(tail, source.suffix, suffix);
  return sha256(head + "#define ENTRY(name) name##" + suffix + tail);
}

// Nothing where the row's text is not today's.
std::optional<NewIdentity> identify(const OldVariant& old, std::span<const Op> ops, const Files& old_files,
                                    const Files& files) {
  const auto op = std::find_if(ops.begin(), ops.end(), [&](const Op& each) { return each.name == old.op; });
  if (op == ops.end()) return std::nullopt;
  const auto tmpl = std::find_if(op->templates.begin(), op->templates.end(),
                                 [&](const Template& each) { return each.name == old.template_name; });
  if (tmpl == op->templates.end()) return std::nullopt;
  try {
    const Problem problem = complete_problem(*op, Values::parse(old.problem));
    const DeviceFacts device = facts_of(old.device);
    const auto config = tmpl->space(problem, device).find(Values::parse(old.config));
    if (!config) return std::nullopt;
    const auto source = [&](const std::string& target, const Files& texts) {
      return render(*op, *tmpl, problem, *config, target, texts);
    };
    if (text_hash(source(old.target, old_files)) != old.text_hash) return std::nullopt;
    // The kernel itself has not changed since. (On the host the shim has, which only emulates.)
    const std::string target = old.target == "host" ? "sm_90a" : old.target;
    if (source(target, old_files).hash != source(target, files).hash) return std::nullopt;
    return NewIdentity{old.id, source(old.target, files).hash, body_hash(*op, *tmpl, files)};
  } catch (const Error&) {
    return std::nullopt;  // no problem or config of today, or a file that there was none of
  }
}

}  // namespace

std::vector<NewIdentity> identify(const std::vector<OldVariant>& old, std::span<const Op> ops,
                                  const Files& files) {
  static const Files old_files = read_old_files();
  std::vector<std::optional<NewIdentity>> found(old.size());
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;  // some 2 ms each, and a database may hold tens of thousands
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back([&] {
        for (std::size_t n = next++; n < old.size(); n = next++)
          found[n] = identify(old[n], ops, old_files, files);
      });
    }
  }
  std::vector<NewIdentity> identities;
  for (std::optional<NewIdentity>& identity : found) {
    if (identity) identities.push_back(std::move(*identity));
  }
  return identities;
}

}  // namespace tunesmith
