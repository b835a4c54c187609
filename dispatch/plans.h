// The plans that were made, by what was asked for. Each thread has a table of its own in front of the common
// one, with references of its own to the plans: a look-up that finds something there writes no memory that
// another thread reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dispatch/plan_state.h"
#include "generator/values.h"

namespace tunesmith {

/// The value as a problem holds it.
Value value_of(const Field& field);

/// A field, or the op's name, in three numbers without a gap between them.
struct Digest {
  static constexpr std::size_t short_text = 8;
  bool is_long_text() const { return kind > short_text && kind != ~std::uint64_t{0}; }

  const char* name;      ///< where the literal lies; null: of the op
  std::uint64_t number;  ///< the integer; a text of eight bytes at most; a hash of a longer one
  std::uint64_t kind;    ///< all bits for an integer, a text's size
};

/// What is looked up: an op and a problem's fields, or a text as the only field.
struct Asked {
  /// Throws UsageError if there are more fields than any op has parameters.
  Asked(std::string_view op_name, std::span<const Field> problem);

  std::span<const Digest> in_numbers() const { return {digests.data(), fields.size() + 1}; }

  static constexpr std::size_t most_fields = 24;
  std::string_view op;
  std::span<const Field> fields;
  std::uint64_t hash;
  bool has_long_texts;
  std::array<Digest, 1 + most_fields> digests;  // NOLINT: the op, and as far as there are fields
};

/// The field of a problem that is given as a text.
inline Field as_text(std::string_view problem) { return {"the whole problem", problem}; }

class PlansOfThread;
struct Filed;

class Plans {
 public:
  Plans();
  ~Plans();
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  /// Null if it was not filed. Takes a lock only at a thread's first look for it.
  std::shared_ptr<const PlanState> find(const Asked& asked);

  /// Files a plan, unless there is one for that; answers the one that is filed.
  std::shared_ptr<const PlanState> keep(const Asked& asked, const std::shared_ptr<PlanState>& plan);
  /// Files a plan under another name too, if it is still kept.
  void also(const Asked& asked, const std::shared_ptr<const PlanState>& plan);
  /// Files `better` wherever `plan` is; false if it is kept no more.
  bool replace(const PlanState& plan, std::shared_ptr<PlanState> better);

  bool has(const PlanState& plan);

  std::size_t bytes() const { return bytes_; }
  /// Takes out the oldest, for the caller to let go of; null: there is none.
  std::shared_ptr<const PlanState> remove_oldest();
  /// Takes out this one, if it is kept.
  void remove(const PlanState& plan);

  struct Due {
    std::vector<std::shared_ptr<PlanState>> twins;  ///< of plans whose launches asked for them
    std::vector<std::shared_ptr<PlanState>> again;  ///< plans for which something did not compile a while ago
    Clock::time_point next = never;                 ///< when there will be more of the second
  };
  /// Each once.
  Due take_due();

 private:
  friend class PlansOfThread;
  struct Kept {
    std::shared_ptr<PlanState> plan;
    std::vector<std::shared_ptr<const Filed>> filed;
    std::size_t plan_bytes = 0;  ///< as they were when it was kept: its twin may be made meanwhile
    std::size_t bytes = 0;       ///< with what it is filed under
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Asked& asked) const { return asked.hash; }
    std::size_t operator()(const std::shared_ptr<const Filed>& filed) const;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Asked& asked, const std::shared_ptr<const Filed>& filed) const;
    bool operator()(const std::shared_ptr<const Filed>& a, const std::shared_ptr<const Filed>& b) const {
      return a == b;
    }
  };

  PlansOfThread* of_this_thread();
  std::shared_ptr<const PlanState> file(PlansOfThread* own, Kept& kept,
                                        const std::shared_ptr<const Filed>& filed);
  void take_out(const std::shared_ptr<const Filed>& filed);
  Kept take_out(std::list<Kept>::iterator place);

  const std::uint64_t id_;  ///< never used again in this process
  std::mutex mutex_;        ///< of what follows; locked before a thread's own
  std::list<Kept> kept_;    ///< oldest first
  std::unordered_map<const PlanState*, std::list<Kept>::iterator> place_;
  std::unordered_set<std::shared_ptr<const Filed>, Hash, Equal> filed_;
  std::vector<std::weak_ptr<PlansOfThread>> threads_;
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace tunesmith
