// Options, the device, and the plans that were made: look-ups under a shared lock, planning under a mutex.

#include "tunesmith/dispatcher.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "db/store.h"
#include "dispatch/planner.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "runtime/device_id.h"

namespace tunesmith {
namespace {

// At this number all plans are forgotten at once; a caller's own handles stay valid. A module takes about
// 100 KiB.
constexpr std::size_t most_plans = 4096;

struct TextKey {
  std::string op, problem;
};
struct TextView {
  std::string_view op, problem;
};

Value value_of(const Field& field) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return *number;
  return std::string(std::get<std::string_view>(field.value));
}

// A typed function uses the same literals each time, so comparing addresses is mostly enough. A kept address
// is never read: its library may have been unloaded.
struct KeptField {
  explicit KeptField(const Field& field)
      : literal(field.name.text().data()), value(value_of(field)), name(field.name.text()) {}

  bool operator==(const KeptField& other) const { return name == other.name && value == other.value; }
  bool operator==(const Field& field) const {
    if (literal != field.name.text().data() && name != field.name.text()) return false;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      const auto* asked = std::get_if<std::int64_t>(&field.value);
      return asked != nullptr && *asked == *number;
    }
    const auto* asked = std::get_if<std::string_view>(&field.value);
    return asked != nullptr && *asked == std::get<std::string>(value);
  }

  const char* literal;
  Value value;
  std::string name;
};
struct FieldsKey {
  std::string op;
  std::vector<KeptField> problem;
};
struct FieldsView {
  std::string_view op;
  std::span<const Field> problem;
};

// Both kinds of key, each also as a view, so that a look-up allocates nothing.
struct Hash {
  using is_transparent = void;
  static std::size_t mix(std::size_t seed, std::size_t value) {
    return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 29);
  }
  std::size_t operator()(const TextView& key) const {
    const std::hash<std::string_view> hash;
    return mix(hash(key.op), hash(key.problem));
  }
  std::size_t operator()(const TextKey& key) const { return (*this)(TextView{key.op, key.problem}); }
  // Hashes only the numbers: the names are the same each time, and there are few words.
  template <typename Fields>
  static std::size_t of_fields(std::string_view op, const Fields& problem) {
    std::size_t seed = std::hash<std::string_view>()(op);
    for (const auto& field : problem) {
      if (const auto* number = std::get_if<std::int64_t>(&field.value))
        seed = mix(seed, static_cast<std::size_t>(*number));
    }
    return seed;
  }
  std::size_t operator()(const FieldsView& key) const { return of_fields(key.op, key.problem); }
  std::size_t operator()(const FieldsKey& key) const { return of_fields(key.op, key.problem); }
};
struct Equal {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return a.op == b.op && std::equal(a.problem.begin(), a.problem.end(), b.problem.begin(), b.problem.end());
  }
};

// complete_problem() refuses unknown and missing parameters later.
Problem from_fields(const Op& op, std::span<const Field> fields) {
  Problem problem;
  for (const Field& field : fields) {
    if (problem.has(field.name.text())) {
      throw UsageError("The parameter " + std::string(field.name.text()) + " of the " + op.name +
                       " problem is given twice; name each field once.");
    }
    problem.set(field.name.text(), value_of(field));
  }
  return problem;
}

}  // namespace

std::string default_database() { return default_database_path().string(); }

std::string default_cache_folder() { return user_cache_folder().string(); }

bool default_overlap() {
  const char* given = std::getenv("TUNESMITH_OVERLAP");
  const std::string_view word = given == nullptr || *given == '\0' ? "on" : given;
  if (word != "on" && word != "off") {
    throw UsageError("TUNESMITH_OVERLAP is \"" + std::string(word) +
                     "\"; allowed are on and off. Set one of them or unset it.");
  }
  return word == "on";
}

struct Dispatcher::Impl {
  template <typename Key>
  using Plans = std::unordered_map<Key, Plan, Hash, Equal>;

  Impl(const ChosenDevice& chosen, const DispatcherOptions& options, Known known)
      : notes(known.notes),
        planner(chosen.facts, chosen.ordinal(), std::move(known), BinaryCache(options.cache_folder),
                options.allow_compile, options.overlap) {
    if (!chosen.note.empty()) notes.insert(notes.begin(), chosen.note);
  }

  template <typename Key, typename View>
  Plan find(const Plans<Key>& plans, const View& view) {
    const std::shared_lock lock(plans_mutex);
    const auto found = plans.find(view);
    return found == plans.end() ? Plan() : found->second;
  }

  template <typename Key>
  void keep(Plans<Key>& plans, Key key, const Plan& plan) {
    const std::scoped_lock lock(plans_mutex);
    if (plans.size() >= most_plans) plans.clear();
    plans.emplace(std::move(key), plan);
  }

  Plan make(const Op& op, const Values& given) {
    const Problem problem = complete_problem(op, given);
    const std::string text = problem.text();
    const TextView view{op.name, text};
    if (Plan plan = find(by_text, view)) return plan;
    const std::scoped_lock lock(planning_mutex);
    if (Plan plan = find(by_text, view)) return plan;  // made while this thread waited
    Plan plan(planner.plan(op, problem));
    keep(by_text, TextKey{op.name, text}, plan);
    return plan;
  }

  std::vector<std::string> notes;
  std::mutex planning_mutex;
  Planner planner;
  std::shared_mutex plans_mutex;
  Plans<TextKey> by_text;
  Plans<FieldsKey> by_fields;
};

Dispatcher::Dispatcher(const DispatcherOptions& options) {
  const ChosenDevice chosen = choose_device(DeviceId::parse(options.device));
  Known known = read_known(options.database, chosen.facts.target);
  impl_ = std::make_unique<Impl>(chosen, options, std::move(known));
}

Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

const std::string& Dispatcher::device() const noexcept { return impl_->planner.device().name; }
bool Dispatcher::on_host() const noexcept { return impl_->planner.ordinal() < 0; }
int Dispatcher::cuda_ordinal() const noexcept { return impl_->planner.ordinal(); }
const std::vector<std::string>& Dispatcher::notes() const noexcept { return impl_->notes; }

Plan Dispatcher::plan(std::string_view op, std::string_view problem) {
  if (Plan plan = impl_->find(impl_->by_text, TextView{op, problem})) return plan;
  Plan plan = impl_->make(find_op(op), Problem::parse(problem));
  impl_->keep(impl_->by_text, TextKey{std::string(op), std::string(problem)}, plan);
  return plan;
}

Plan Dispatcher::plan(std::string_view op, const Values& problem) {
  return impl_->make(find_op(op), problem);
}

Plan Dispatcher::plan(std::string_view op, std::span<const Field> problem) {
  if (Plan plan = impl_->find(impl_->by_fields, FieldsView{op, problem})) return plan;
  const Op& found = find_op(op);
  Plan plan = impl_->make(found, from_fields(found, problem));
  impl_->keep(impl_->by_fields,
              FieldsKey{std::string(op), std::vector<KeptField>(problem.begin(), problem.end())}, plan);
  return plan;
}

std::string Dispatcher::explain(std::string_view op, std::string_view problem) {
  const Plan made = plan(op, problem);
  std::string text = std::string(op) + " " + made.problem() + "\non " + device() + " (" +
                     impl_->planner.device().target + ")\nmatch: " + std::string(name(made.match())) +
                     "\nvariant: " + made.variant().template_name + " " + made.variant().config + "\n\n";
  for (const std::string& note : notes()) text += note + "\n";
  for (const std::string& sentence : made.explanation()) text += sentence + "\n";
  return text;
}

}  // namespace tunesmith
