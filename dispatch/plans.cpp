#include "dispatch/plans.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace tunesmith {
namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  seed = (seed ^ value) * 0x9e3779b97f4a7c15u;
  return seed ^ (seed >> 29);
}

// Eight bytes at a time; the last ones overlap those before them.
std::uint64_t mix(std::uint64_t seed, std::string_view text) {
  const auto word = [](const char* from) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, from, 8);
    return bytes;
  };
  const auto half = [](const char* from) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, from, 4);
    return std::uint64_t{bytes};
  };
  seed = mix(seed, text.size());
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left > 8; left -= 8, at += 8) seed = mix(seed, word(at));
  if (text.size() >= 8) return mix(seed, word(text.data() + text.size() - 8));
  if (left >= 4) return mix(seed, half(at) << 32 | half(at + left - 4));
  for (; left > 0; --left, ++at) seed = mix(seed, static_cast<unsigned char>(*at));
  return seed;
}

// A typed function uses the same literals each time, so comparing addresses is mostly enough. A kept address
// is never read: its library may have been unloaded.
struct KeptField {
  explicit KeptField(const Field& field)
      : literal(field.name.text().data()), name(field.name.text()), value(value_of(field)) {}

  bool operator==(const Field& field) const {
    if (literal != field.name.text().data() && name != field.name.text()) return false;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      const auto* asked = std::get_if<std::int64_t>(&field.value);
      return asked != nullptr && *asked == *number;
    }
    const auto* asked = std::get_if<std::string_view>(&field.value);
    return asked != nullptr && *asked == *std::get_if<std::string>(&value);
  }

  const char* literal;
  std::string name;
  Value value;
};

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

}  // namespace

Value value_of(const Field& field) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return *number;
  return std::string(std::get<std::string_view>(field.value));
}

// The names of the fields are the same each time.
Asked::Asked(std::string_view op_name, std::span<const Field> problem)
    : op(op_name), fields(problem), hash(mix(0, op_name)) {
  for (const Field& field : fields) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      hash = mix(hash, static_cast<std::uint64_t>(*number));
    } else {
      hash = mix(hash, *std::get_if<std::string_view>(&field.value));
    }
  }
}

/// A plan under one of its names; never changes.
struct Filed {
  Filed(const Asked& asked, std::shared_ptr<const PlanState> its_plan)
      : op(asked.op),
        fields(asked.fields.begin(), asked.fields.end()),
        hash(asked.hash),
        plan(std::move(its_plan)) {}
  Filed(const Filed& other, std::shared_ptr<const PlanState> its_plan) : Filed(other) {
    plan = std::move(its_plan);
  }

  bool operator==(const Asked& asked) const {
    return op == asked.op &&
           std::equal(fields.begin(), fields.end(), asked.fields.begin(), asked.fields.end());
  }
  std::size_t bytes() const {
    std::size_t sum = sizeof(Filed) + op.capacity();
    for (const KeptField& field : fields) {
      sum += sizeof(KeptField) + field.name.capacity();
      if (const auto* word = std::get_if<std::string>(&field.value)) sum += word->capacity();
    }
    return sum;
  }

  std::string op;
  std::vector<KeptField> fields;
  std::uint64_t hash;
  std::shared_ptr<const PlanState> plan;

 private:
  Filed(const Filed&) = default;
};

std::size_t Plans::Hash::operator()(const std::shared_ptr<const Filed>& filed) const { return filed->hash; }
bool Plans::Equal::operator()(const Asked& asked, const std::shared_ptr<const Filed>& filed) const {
  return *filed == asked;
}

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

  std::mutex mutex_;
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

std::shared_ptr<const PlanState> Plans::keep(const Asked& asked, std::shared_ptr<PlanState> plan) {
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
