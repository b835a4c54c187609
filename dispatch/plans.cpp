#include "dispatch/plans.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

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

// A text of at most eight bytes, as a number that no other text of its size has; a hash of a longer one.
std::uint64_t number_of(std::string_view text) {
  const char* at = text.data();
  const std::size_t size = text.size();
  if (size > Digest::short_text) {
    std::uint64_t seed = 0;
    for (std::size_t left = size; left > 8; left -= 8, at += 8) seed = mix(seed, load<std::uint64_t>(at));
    return mix(seed, load<std::uint64_t>(text.data() + size - 8));
  }
  if (size == 8) return load<std::uint64_t>(at);
  if (size >= 4) return load<std::uint32_t>(at) << 32 | load<std::uint32_t>(at + size - 4);
  if (size >= 2) return load<std::uint16_t>(at) << 32 | load<std::uint16_t>(at + size - 2);
  return size == 1 ? load<std::uint8_t>(at) : 0;
}

std::string_view text_of(const Field& field) {
  const auto* text = std::get_if<std::string_view>(&field.value);
  return text == nullptr ? std::string_view() : *text;
}

std::size_t bytes_of(const Kernel& kernel) {
  if (!kernel.executable) return 0;
  const Variant& variant = kernel.variant;
  constexpr std::size_t executable = 1024;  // about: its work, its steps
  return executable + variant.config.capacity() + variant.source_hash.capacity() +
         variant.tuned_problem.capacity() + variant.tuned_on.capacity();
}

std::size_t bytes_of(const PlanState& plan) {
  std::size_t sum = sizeof(PlanState) + plan.problem.capacity() + plan.why_refuses_unaligned.capacity() +
                    bytes_of(plan.first) + bytes_of(plan.stand_in) + bytes_of(plan.twin);
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

// The names of the fields are the same each time.
Asked::Asked(std::string_view op_name, std::span<const Field> problem)
    : op(op_name), fields(problem), hash(number_of(op_name)) {
  if (fields.size() > digests.size()) throw_too_many(op, fields.size());
  Digest* digest = digests.data();
  for (const Field& field : fields) {
    digest->name = field.name.text().data();
    if (const auto* integer = std::get_if<std::int64_t>(&field.value)) {
      digest->number = static_cast<std::uint64_t>(*integer);
      digest->kind = ~std::uint64_t{0};
    } else {
      const std::string_view text = text_of(field);
      digest->number = number_of(text);
      digest->kind = text.size();
    }
    hash = mix(hash + digest->kind, digest->number);
    ++digest;
  }
}

/// A plan under one of its names; never changes.
struct Filed {
  Filed(const Asked& asked, std::shared_ptr<const PlanState> its_plan)
      : hash(asked.hash),
        op(asked.op),
        digests(asked.digests.begin(),
                asked.digests.begin() + static_cast<std::ptrdiff_t>(asked.fields.size())),
        plan(std::move(its_plan)) {
    for (const Field& field : asked.fields)
      texts.push_back({std::string(field.name.text()), std::string(text_of(field))});
  }
  Filed(const Filed& other, std::shared_ptr<const PlanState> its_plan) : Filed(other) {
    plan = std::move(its_plan);
  }

  // A typed function uses the same literals each time, so comparing their addresses is mostly enough. A kept
  // address is never read: its library may have been unloaded.
  bool operator==(const Asked& asked) const {
    if (digests.size() != asked.fields.size() || op != asked.op) return false;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      const Digest& ours = digests[i];
      const Digest& theirs = asked.digests[i];
      if (ours.number != theirs.number || ours.kind != theirs.kind) return false;
      if (ours.name != theirs.name && texts[i].name != asked.fields[i].name.text()) return false;
      if (ours.is_long_text() && texts[i].value != text_of(asked.fields[i])) return false;
    }
    return true;
  }
  std::size_t bytes() const {
    std::size_t sum = sizeof(Filed) + op.capacity() + digests.size() * (sizeof(Digest) + sizeof(Texts));
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

 private:
  Filed(const Filed&) = default;
};

std::size_t Plans::Hash::operator()(const std::shared_ptr<const Filed>& filed) const { return filed->hash; }
bool Plans::Equal::operator()(const Asked& asked, const std::shared_ptr<const Filed>& filed) const {
  return *filed == asked;
}

// Held for some tens of nanoseconds, and nearly always by its own thread: cheaper than a mutex, whose release
// has to look for waiting threads.
class Spin {
 public:
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

/// A cache: what does not fit is looked up in the common table again. Its lock is taken by others only when
/// they replace or remove a plan.
class PlansOfThread {
 public:
  std::shared_ptr<const PlanState> find(const Asked& asked) {
    const std::scoped_lock lock(mutex_);
    if (slots_.empty()) return nullptr;
    for (std::size_t i = 0; i < window; ++i) {
      const Slot& slot = slots_[(asked.hash + i) & (slots_.size() - 1)];
      if (slot.hash == asked.hash && slot.filed != nullptr && *slot.filed == asked) return slot.plan;
    }
    return nullptr;
  }

  // The reference that it answers is counted in memory of this thread's own.
  std::shared_ptr<const PlanState> add(const std::shared_ptr<const Filed>& filed) {
    auto own = std::make_shared<std::shared_ptr<const Filed>>(filed);
    Slot slot{filed->hash, filed.get(), std::shared_ptr<const PlanState>(own, filed->plan.get())};
    const std::scoped_lock lock(mutex_);
    if (2 * ++count_ > slots_.size() && slots_.size() < most_slots) grow();
    return put(std::move(slot));
  }

  void remove(const Filed& filed) {
    std::shared_ptr<const PlanState> out;  // let go of after the lock
    const std::scoped_lock lock(mutex_);
    if (slots_.empty()) return;
    for (std::size_t i = 0; i < window; ++i) {
      Slot& slot = slots_[(filed.hash + i) & (slots_.size() - 1)];
      if (slot.filed != &filed) continue;
      slot.filed = nullptr;
      out.swap(slot.plan);
      --count_;
    }
  }

  void close() {
    std::vector<Slot> out;
    const std::scoped_lock lock(mutex_);
    out.swap(slots_);
    closed_ = true;
  }
  bool is_closed() {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    const Filed* filed = nullptr;  // kept by `plan`
    std::shared_ptr<const PlanState> plan;
  };
  static constexpr std::size_t window = 8;  // slots from a hash's place on
  static constexpr std::size_t most_slots = std::size_t{1} << 16;

  std::shared_ptr<const PlanState> put(Slot slot) {
    Slot* place = &slots_[slot.hash & (slots_.size() - 1)];
    for (std::size_t i = 0; i < window; ++i) {
      Slot& other = slots_[(slot.hash + i) & (slots_.size() - 1)];
      if (other.filed == nullptr) {
        place = &other;
        break;
      }
    }
    if (place->filed != nullptr) --count_;
    *place = std::move(slot);
    return place->plan;
  }

  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(64, 2 * slots_.size()));
    before.swap(slots_);
    count_ = 1;
    for (Slot& slot : before) {
      if (slot.filed == nullptr) continue;
      ++count_;
      put(std::move(slot));
    }
  }

  Spin mutex_;
  std::vector<Slot> slots_;  // a power of two
  std::size_t count_ = 0;
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
  for (const auto& thread : threads_) {
    if (const auto plans = thread.lock()) plans->close();
  }
}

PlansOfThread* Plans::of_this_thread() {
  if (recent.id == id_) return recent.plans;
  if (recent.ended) return nullptr;
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
  PlansOfThread* own = of_this_thread();
  if (own != nullptr) {
    if (auto plan = own->find(asked)) return plan;
  }
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
  for (const auto& thread : threads_) {
    if (const auto plans = thread.lock()) plans->remove(*filed);
  }
  filed_.erase(filed);
}

std::shared_ptr<const PlanState> Plans::keep(const Asked& asked, const std::shared_ptr<PlanState>& plan) {
  PlansOfThread* own = of_this_thread();
  const std::scoped_lock lock(mutex_);
  if (const auto found = filed_.find(asked); found != filed_.end()) return (*found)->plan;
  Kept& kept = kept_.emplace_back(Kept{.plan = plan, .filed = {}, .bytes = bytes_of(*plan)});
  bytes_ += kept.bytes;
  place_[plan.get()] = std::prev(kept_.end());
  return file(own, kept, std::make_shared<const Filed>(asked, plan));
}

void Plans::also(const Asked& asked, const std::shared_ptr<const PlanState>& plan) {
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
  bytes_ += bytes_of(*better) - bytes_of(plan);
  kept.bytes += bytes_of(*better) - bytes_of(plan);
  for (std::shared_ptr<const Filed>& filed : kept.filed) {
    take_out(filed);
    filed = std::make_shared<const Filed>(*filed, better);
    filed_.insert(filed);
  }
  kept.plan = std::move(better);
  return true;
}

std::shared_ptr<const PlanState> Plans::remove_oldest() {
  const std::scoped_lock lock(mutex_);
  if (kept_.empty()) return nullptr;
  const Kept oldest = std::move(kept_.front());
  kept_.pop_front();
  place_.erase(oldest.plan.get());
  bytes_ -= oldest.bytes;
  for (const std::shared_ptr<const Filed>& filed : oldest.filed) take_out(filed);
  return oldest.plan;
}

std::vector<std::shared_ptr<PlanState>> Plans::take_asked() {
  std::vector<std::shared_ptr<PlanState>> found;
  const std::scoped_lock lock(mutex_);
  for (const Kept& kept : kept_) {
    auto asked = PlanState::asked;
    if (kept.plan->twin_asked.compare_exchange_strong(asked, PlanState::heard)) found.push_back(kept.plan);
  }
  return found;
}

}  // namespace tunesmith
