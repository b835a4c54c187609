#include "dispatch/plans.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "dispatch/fork.h"
#include "generator/error.h"

namespace tunesmith {
namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  seed = (seed ^ value) * 0x9e3779b97f4a7c15u;
  return seed ^ (seed >> 29);
}

template <typename Word>
std::uint64_t load(const char* from) {
  Word word;  // NOLINT: written below
  std::memcpy(&word, from, sizeof word);
  return word;
}

std::uint64_t hash_of_long(std::string_view text) {
  const char* at = text.data();
  std::uint64_t seed = 0;
  for (std::size_t left = text.size(); left > 8; left -= 8, at += 8)
    seed = mix(seed, load<std::uint64_t>(at));
  return mix(seed, load<std::uint64_t>(text.data() + text.size() - 8));
}

// A text of at most eight bytes, as a number that no other text of its size has; a hash of a longer one.
inline std::uint64_t number_of(std::string_view text) {
  const char* at = text.data();
  const std::size_t size = text.size();
  if (size > Digest::short_text) return hash_of_long(text);
  if (size == 8) return load<std::uint64_t>(at);
  if (size >= 4) return load<std::uint32_t>(at) << 32 | load<std::uint32_t>(at + size - 4);
  if (size >= 2) return load<std::uint16_t>(at) << 32 | load<std::uint16_t>(at + size - 2);
  return size == 1 ? load<std::uint8_t>(at) : 0;
}

// Odd, without a pattern: of the place of a number among those that are hashed.
constexpr auto factors = [] {
  std::array<std::uint64_t, 1 + Asked::most_fields> factors{};
  std::uint64_t state = 0;
  for (std::uint64_t& factor : factors) {  // SplitMix64
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t bits = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    factor = (bits ^ (bits >> 31)) | 1;
  }
  return factors;
}();

std::string_view text_of(const Field& field) {
  const auto* text = std::get_if<std::string_view>(&field.value);
  return text == nullptr ? std::string_view() : *text;
}

std::size_t bytes_of(const Kernel& kernel) {
  if (!kernel.executable) return 0;
  const Variant& variant = kernel.variant;
  constexpr std::size_t executable = 1536;  // about: its work, its steps
  return executable + variant.config.capacity() + variant.source_hash.capacity() +
         variant.tuned_problem.capacity() + variant.tuned_on.capacity();
}

std::size_t bytes_of(const PlanState& plan) {
  std::size_t sum = sizeof(PlanState) + plan.problem.capacity() + plan.why_refuses_unaligned.capacity() +
                    plan.arguments.capacity() * sizeof(PlanState::Argument) + bytes_of(plan.first) +
                    bytes_of(plan.stand_in) + bytes_of(plan.twin_comes ? plan.first : plan.twin);
  for (const PlanState::Failure& failure : plan.failures) sum += sizeof failure + failure.why.capacity();
  return sum;
}

[[noreturn]] void throw_too_many(std::string_view op, std::size_t count) {
  throw UsageError("The " + std::string(op) + " problem has " + std::to_string(count) +
                   " fields; name each of the op's parameters once.");
}

}  // namespace

Value value_of(const Field& field) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return *number;
  return std::string(std::get<std::string_view>(field.value));
}

// The products do not wait for each other. The names of the fields are the same each time.
Asked::Asked(std::string_view op_name, std::span<const Field> problem) : op(op_name), fields(problem) {
  if (fields.size() > most_fields) throw_too_many(op, fields.size());
  const auto is_long = [](std::string_view text) { return text.size() > Digest::short_text; };
  std::uint64_t number = number_of(op);
  std::uint64_t sum = number * factors[0];
  bool long_texts = is_long(op);
  Digest* digest = digests.data();
  *digest = {nullptr, number, op.size()};
  const std::uint64_t* factor = factors.data();
  for (const Field& field : fields) {
    std::uint64_t kind = ~std::uint64_t{0};
    if (const auto* integer = std::get_if<std::int64_t>(&field.value)) {
      number = static_cast<std::uint64_t>(*integer);
    } else {
      const std::string_view text = text_of(field);
      number = number_of(text);
      kind = text.size();
      long_texts |= is_long(text);
    }
    *++digest = {field.name.text().data(), number, kind};
    sum += number * *++factor;
  }
  has_long_texts = long_texts;
  hash = mix(sum ^ (sum >> 32), fields.size());
}

/// A plan under one of its names.
struct Filed {
  Filed(const Asked& asked, std::shared_ptr<const PlanState> its_plan)
      : hash(asked.hash),
        op(asked.op),
        digests(asked.in_numbers().begin(), asked.in_numbers().end()),
        plan(std::move(its_plan)) {
    for (const Field& field : asked.fields)
      texts.push_back({std::string(field.name.text()), std::string(text_of(field))});
  }
  Filed(const Filed& other, std::shared_ptr<const PlanState> its_plan)
      : hash(other.hash),
        op(other.op),
        digests(other.digests),
        texts(other.texts),
        plan(std::move(its_plan)) {}

  // A typed function uses the same literals each time, so comparing their addresses is mostly enough. A kept
  // address is never read: its library may have been unloaded.
  bool operator==(const Asked& asked) const {
    const std::span<const Digest> theirs = asked.in_numbers();
    if (digests.size() != theirs.size()) return false;
    return (std::memcmp(digests.data(), theirs.data(), theirs.size_bytes()) == 0 || has_names_of(asked)) &&
           (!asked.has_long_texts || has_long_texts_of(asked));
  }
  std::size_t bytes() const {
    constexpr std::size_t in_tables = 256;  // about: in the common one and in that of a thread
    std::size_t sum =
        in_tables + sizeof(Filed) + op.capacity() + digests.size() * (sizeof(Digest) + sizeof(Texts));
    for (const Texts& text : texts) sum += text.name.capacity() + text.value.capacity();
    return sum;
  }

  struct Texts {
    std::string name, value;
  };
  std::uint64_t hash;
  std::string op;
  std::vector<Digest> digests;
  std::vector<Texts> texts;
  std::shared_ptr<const PlanState> plan;
  mutable std::atomic<bool> is_out = false;  ///< it was taken out: whoever holds its plan may not find it

 private:
  bool has_names_of(const Asked& asked) const {
    for (std::size_t i = 0; i < digests.size(); ++i) {
      const Digest& theirs = asked.digests[i];
      if (digests[i].number != theirs.number || digests[i].kind != theirs.kind) return false;
      if (i > 0 && texts[i - 1].name != asked.fields[i - 1].name.text()) return false;
    }
    return true;
  }
  bool has_long_texts_of(const Asked& asked) const {
    if (digests[0].is_long_text() && op != asked.op) return false;
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (digests[i + 1].is_long_text() && texts[i].value != text_of(asked.fields[i])) return false;
    return true;
  }
};

static_assert(sizeof(Digest) == 24);  // compared as bytes

std::size_t Plans::Hash::operator()(const std::shared_ptr<const Filed>& filed) const { return filed->hash; }
bool Plans::Equal::operator()(const Asked& asked, const std::shared_ptr<const Filed>& filed) const {
  return *filed == asked;
}

/// A cache: what does not fit is looked up in the common table again. Its own thread alone sees the slots, so
/// that a look-up takes no lock; others let go of plans by what the slots refer to without holding it.
class PlansOfThread {
 public:
  std::shared_ptr<const PlanState> find(const Asked& asked) {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = 0; i < window; ++i) {
      Slot& slot = slots_[(asked.hash + i) & (slots_.size() - 1)];
      if (slot.hash != asked.hash || slot.filed == nullptr) continue;
      auto plan = slot.plan.lock();
      if (plan == nullptr || slot.filed->is_out) {
        clear(slot);
      } else if (*slot.filed == asked) {
        return plan;
      }
    }
    return nullptr;
  }

  // The reference that it answers is counted in memory of this thread's own.
  std::shared_ptr<const PlanState> add(const std::shared_ptr<const Filed>& filed) {
    auto own = std::make_shared<std::shared_ptr<const Filed>>(filed);
    std::shared_ptr<const PlanState> plan(own, filed->plan.get());
    exchange(filed.get(), plan);
    if (2 * (count_ + 1) > slots_.size() && slots_.size() < most_slots) grow();
    put({filed->hash, filed.get(), plan});
    return plan;
  }

  /// By any thread.
  void remove(const Filed& filed) { exchange(&filed, nullptr); }
  void close() {
    std::unordered_map<const Filed*, std::shared_ptr<const PlanState>> out;  // let go of after the lock
    const std::scoped_lock lock(mutex_);
    out.swap(held_);
    closed_ = true;
  }
  bool is_closed() {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    const Filed* filed = nullptr;  // as long as `plan` is
    std::weak_ptr<const PlanState> plan;
  };
  static constexpr std::size_t window = 8;  // slots from a hash's place on
  static constexpr std::size_t most_slots = std::size_t{1} << 16;

  // What is let go of is let go of after the lock.
  void exchange(const Filed* filed, std::shared_ptr<const PlanState> plan) {
    const std::scoped_lock lock(mutex_);
    if (plan != nullptr) {
      held_[filed].swap(plan);
    } else if (const auto held = held_.find(filed); held != held_.end()) {
      held->second.swap(plan);
      held_.erase(held);
    }
  }

  void clear(Slot& slot) {
    slot = {};
    --count_;
  }

  void put(Slot slot) {
    Slot* place = &slots_[slot.hash & (slots_.size() - 1)];
    for (std::size_t i = 0; i < window; ++i) {
      Slot& other = slots_[(slot.hash + i) & (slots_.size() - 1)];
      if (other.filed == nullptr || other.plan.expired()) {
        place = &other;
        break;
      }
    }
    if (place->filed != nullptr) {
      if (!place->plan.expired()) exchange(place->filed, nullptr);
      clear(*place);
    }
    *place = std::move(slot);
    ++count_;
  }

  // What others let go of makes room first.
  void grow() {
    const auto live = static_cast<std::size_t>(
        std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.plan.expired(); }));
    std::vector<Slot> before(std::max<std::size_t>(64, slots_.size() * (4 * live > slots_.size() ? 2 : 1)));
    before.swap(slots_);
    count_ = 0;
    for (Slot& slot : before)
      if (!slot.plan.expired()) put(std::move(slot));
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t count_ = 0;

  std::mutex mutex_;  // of what follows
  std::unordered_map<const Filed*, std::shared_ptr<const PlanState>> held_;
  bool closed_ = false;
};

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// The calling thread's tables, by dispatcher, and the one that it used last.
struct Recent {
  std::uint64_t id = 0;
  PlansOfThread* plans = nullptr;
  bool ended = false;  // the thread's objects are being destroyed
};
constinit thread_local Recent recent;

struct OfThread {
  ~OfThread() { recent = {.ended = true}; }
  std::vector<std::pair<std::uint64_t, std::shared_ptr<PlansOfThread>>> tables;
};

}  // namespace

Plans::Plans() : id_(next_id()) {}

Plans::~Plans() {
  const Inside inside;
  for (const auto& thread : threads_) {
    if (const auto plans = thread.lock()) plans->close();
  }
}

PlansOfThread* Plans::of_this_thread() {
  if (recent.ended) return nullptr;
  const Inside inside;
  thread_local OfThread of_thread;
  auto& tables = of_thread.tables;
  auto found = std::find_if(tables.begin(), tables.end(), [&](const auto& one) { return one.first == id_; });
  if (found == tables.end()) {
    std::erase_if(tables, [](const auto& one) { return one.second->is_closed(); });
    found = tables.emplace(tables.end(), id_, std::make_shared<PlansOfThread>());
    const std::scoped_lock lock(mutex_);
    std::erase_if(threads_, [](const auto& thread) { return thread.expired(); });
    threads_.push_back(found->second);
  }
  recent = {.id = id_, .plans = found->second.get()};
  return recent.plans;
}

std::shared_ptr<const PlanState> Plans::find(const Asked& asked) {
  PlansOfThread* own = recent.id == id_ ? recent.plans : of_this_thread();
  if (own != nullptr) {
    if (auto plan = own->find(asked)) return plan;
  }
  const Inside inside;
  const std::scoped_lock lock(mutex_);
  const auto found = filed_.find(asked);
  if (found == filed_.end()) return nullptr;
  return own != nullptr ? own->add(*found) : (*found)->plan;
}

std::shared_ptr<const PlanState> Plans::file(PlansOfThread* own, Kept& kept,
                                             const std::shared_ptr<const Filed>& filed) {
  kept.bytes += filed->bytes();
  bytes_ += filed->bytes();
  filed_.insert(filed);
  kept.filed.push_back(filed);
  return own != nullptr ? own->add(filed) : filed->plan;
}

void Plans::take_out(const std::shared_ptr<const Filed>& filed) {
  filed->is_out = true;
  for (const auto& thread : threads_) {
    if (const auto plans = thread.lock()) plans->remove(*filed);
  }
  filed_.erase(filed);
}

std::shared_ptr<const PlanState> Plans::keep(const Asked& asked, const std::shared_ptr<PlanState>& plan) {
  PlansOfThread* own = of_this_thread();
  const std::scoped_lock lock(mutex_);
  if (const auto found = filed_.find(asked); found != filed_.end()) return (*found)->plan;
  const std::size_t plan_bytes = bytes_of(*plan);
  Kept& kept =
      kept_.emplace_back(Kept{.plan = plan, .filed = {}, .plan_bytes = plan_bytes, .bytes = plan_bytes});
  bytes_ += plan_bytes;
  place_[plan.get()] = std::prev(kept_.end());
  return file(own, kept, std::make_shared<const Filed>(asked, plan));
}

void Plans::also(const Asked& asked, const std::shared_ptr<const PlanState>& plan) {
  const Inside inside;
  PlansOfThread* own = of_this_thread();
  const std::scoped_lock lock(mutex_);
  const auto place = place_.find(plan.get());
  if (place == place_.end() || filed_.find(asked) != filed_.end()) return;
  file(own, *place->second, std::make_shared<const Filed>(asked, plan));
}

bool Plans::replace(const PlanState& plan, std::shared_ptr<PlanState> better) {
  const std::scoped_lock lock(mutex_);
  const auto place = place_.find(&plan);
  if (place == place_.end()) return false;
  Kept& kept = *place->second;
  place_[better.get()] = place->second;
  place_.erase(&plan);
  plan.outdated = true;
  const std::size_t better_bytes = bytes_of(*better);
  bytes_ += better_bytes - kept.plan_bytes;
  kept.bytes += better_bytes - kept.plan_bytes;
  kept.plan_bytes = better_bytes;
  for (std::shared_ptr<const Filed>& filed : kept.filed) {
    take_out(filed);
    filed = std::make_shared<const Filed>(*filed, better);
    filed_.insert(filed);
  }
  kept.plan = std::move(better);
  return true;
}

bool Plans::has(const PlanState& plan) {
  const std::scoped_lock lock(mutex_);
  return place_.contains(&plan);
}

std::shared_ptr<const PlanState> Plans::remove_oldest() {
  const std::scoped_lock lock(mutex_);
  return kept_.empty() ? nullptr : take_out(kept_.begin()).plan;
}

void Plans::remove(const PlanState& plan) {
  Kept removed;  // let go of after the lock
  const std::scoped_lock lock(mutex_);
  if (const auto place = place_.find(&plan); place != place_.end()) removed = take_out(place->second);
}

Plans::Kept Plans::take_out(std::list<Kept>::iterator place) {
  Kept kept = std::move(*place);
  kept_.erase(place);
  place_.erase(kept.plan.get());
  bytes_ -= kept.bytes;
  for (const std::shared_ptr<const Filed>& filed : kept.filed) take_out(filed);
  return kept;
}

Plans::Due Plans::take_due() {
  Due due;
  const Clock::time_point now = Clock::now();
  const std::scoped_lock lock(mutex_);
  for (const Kept& kept : kept_) {
    PlanState& plan = *kept.plan;
    const auto takes_twin = [&](PlanState::Asked asked) {
      return plan.twin_asked.compare_exchange_strong(asked, PlanState::heard);
    };
    bool twin = takes_twin(PlanState::asked);
    if (const Clock::time_point when = plan.try_again; when > now) {
      due.next = std::min(due.next, when);
    } else {
      plan.try_again = never;
      due.again.push_back(kept.plan);
      twin |= takes_twin(PlanState::did_not_compile);
    }
    if (twin) due.twins.push_back(kept.plan);
  }
  return due;
}

}  // namespace tunesmith
