// The second half of a ProblemRun: the fastest are measured again, side by side, checked against other
// inputs, and the winners are written.
#include <algorithm>
#include <utility>

#include "tuner/problem_run.h"

namespace tunesmith {
namespace {

// The winners' second check must not see the inputs of the first.
constexpr std::uint64_t recheck_seed = 0x7265636865636bu;

std::vector<std::int64_t> without(std::vector<std::int64_t> tickets, std::int64_t gone) {
  tickets.erase(std::remove(tickets.begin(), tickets.end(), gone), tickets.end());
  return tickets;
}

}  // namespace

void ProblemRun::finals() {
  std::vector<Ticket> tickets = finalists();
  compile_missing(tickets);
  measure_rounds(tickets);
  if (!bench_.interrupted()) recheck(tickets);
  if (!bench_.interrupted()) choose(tickets);
}

std::vector<Contender> ProblemRun::contenders(const std::vector<Ticket>& tickets) const {
  std::vector<Contender> list;
  for (const Ticket ticket : tickets) {
    const Entry& entry = entries_[static_cast<std::size_t>(ticket)];
    if (entry.median_us <= 0) continue;
    Contender contender;
    contender.index = static_cast<std::size_t>(ticket);
    contender.median_us = entry.median_us;
    contender.alignment_bytes = entry.variant.alignment_bytes;
    contender.registers = entry.reply.registers;
    contender.shared_bytes = entry.reply.static_shared_bytes + entry.reply.dynamic_shared_bytes;
    contender.may_win = reentrant(entry.variant.work);
    list.push_back(contender);
  }
  return list;
}

// The base first, then the fastest, then what won before.
std::vector<ProblemRun::Ticket> ProblemRun::finalists() {
  std::vector<Ticket> all;
  for (std::size_t i = 0; i < entries_.size(); ++i) all.push_back(static_cast<Ticket>(i));
  std::vector<Ticket> tickets;
  if (!entries_.empty() && entries_.front().median_us > 0) tickets.push_back(0);
  const std::int64_t element_bytes = element_alignment(bench_.op, problem_);
  for (const std::size_t index : choose_finalists(contenders(all), element_bytes, bench_.policy)) {
    if (index != 0) tickets.push_back(static_cast<Ticket>(index));
  }
  add_previous_winners(tickets);
  return tickets;
}

// A winner of an earlier run takes part, so that it is beaten on today's clocks or stays with today's time.
void ProblemRun::add_previous_winners(std::vector<Ticket>& tickets) {
  for (const WinnerRow& row : previous_) {
    const auto same = [&](const Entry& entry) {
      return entry.variant.source.hash == row.variant.source_hash;
    };
    const auto found = std::find_if(entries_.begin(), entries_.end(), same);
    Ticket ticket = found - entries_.begin();
    if (found == entries_.end()) {
      // Of any template: those that this run does not search win on.
      const DeviceFacts& device = bench_.worker.hello().device;
      const auto point = legal_point(bench_.op, problem_, device, row.template_.name, row.variant.config);
      if (!point) continue;  // the space changed: stale
      Entry entry;
      entry.variant = make_variant(bench_.op, problem_, *point, device);
      entry.median_us = row.median_us;
      if (!same(entry)) continue;  // the template changed: stale
      entries_.push_back(std::move(entry));
    }
    if (entries_[static_cast<std::size_t>(ticket)].median_us <= 0) continue;  // it failed since
    if (std::find(tickets.begin(), tickets.end(), ticket) == tickets.end()) tickets.push_back(ticket);
  }
}

// Those that come from an earlier run, or were dropped as too slow to win.
void ProblemRun::compile_missing(const std::vector<Ticket>& tickets) {
  std::vector<Ticket> missing;
  for (const Ticket ticket : tickets) {
    if (entries_[static_cast<std::size_t>(ticket)].binary.empty()) missing.push_back(ticket);
  }
  std::size_t next = 0;
  while ((next < missing.size() || bench_.compilers.at_work() > 0) && !bench_.interrupted()) {
    while (next < missing.size() && bench_.compilers.has_room()) {
      const Ticket ticket = missing[next++];
      const Variant& variant = entries_[static_cast<std::size_t>(ticket)].variant;
      const Source source =
          make_variant(bench_.op, problem_, variant.point, bench_.worker.hello().device).source;
      bench_.compilers.begin(ticket, source);
    }
    wait();
    bench_.worker.update();
    for (CompileResult& result : bench_.compilers.update()) {
      Entry& entry = entries_[static_cast<std::size_t>(result.ticket)];
      entry.binary = std::move(result.binary);
      entry.compile_ms = result.milliseconds;
    }
    show("finals: compiling", static_cast<std::int64_t>(next), static_cast<std::int64_t>(missing.size()));
  }
  bench_.compilers.drop_all();
}

std::optional<MeasureReply> ProblemRun::ask(const Entry& entry, bool check, int samples) {
  while (!bench_.worker.idle()) {
    if (bench_.interrupted()) return std::nullopt;
    wait();
    bench_.worker.update();
  }
  MeasureRequest wanted = request(entry);
  wanted.check = check;
  wanted.samples = samples;
  bench_.worker.measure(wanted);
  while (true) {
    wait();
    if (auto reply = bench_.worker.update()) return reply;
  }
}

void ProblemRun::fail(Ticket ticket, const MeasureReply& reply) {
  Entry& entry = entries_[static_cast<std::size_t>(ticket)];
  entry.measurement = bench_.recorder.record(problem_, entry.variant, reply, entry.compile_ms);
  entry.reply = reply;
  entry.median_us = 0;
  ++failed_;
}

// Each finalist once a round: a drift of the clocks meets all alike. One row each, with the samples of all
// rounds.
void ProblemRun::measure_rounds(std::vector<Ticket>& tickets) {
  tickets.erase(
      std::remove_if(tickets.begin(), tickets.end(),
                     [&](Ticket t) { return entries_[static_cast<std::size_t>(t)].binary.empty(); }),
      tickets.end());
  std::map<Ticket, std::vector<double>> samples;
  const int rounds = bench_.policy.final_rounds;
  const auto total = static_cast<std::int64_t>(tickets.size()) * rounds;
  std::int64_t done = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const Ticket ticket : std::vector<Ticket>(tickets)) {
      Entry& entry = entries_[static_cast<std::size_t>(ticket)];
      auto reply = ask(entry, !entry.checked, bench_.policy.final_samples);
      if (!reply || bench_.interrupted()) return;
      if (reply->verdict != Verdict::ok) {
        fail(ticket, *reply);
        tickets = without(tickets, ticket);
      } else {
        std::vector<double>& all = samples[ticket];
        all.insert(all.end(), reply->samples_us.begin(), reply->samples_us.end());
        if (entry.checked) {  // only a check compares
          reply->compared = entry.reply.compared || reply->compared;
          reply->max_error = std::max(reply->max_error, entry.reply.max_error);
        }
        entry.reply = *reply;
        entry.checked = true;
      }
      show("finals", ++done, total);
    }
  }
  for (const Ticket ticket : tickets) {
    Entry& entry = entries_[static_cast<std::size_t>(ticket)];
    entry.reply.samples_us = samples[ticket];
    entry.median_us = summarize(entry.reply.samples_us).median_us;
    result_.worst_us = std::max(result_.worst_us, entry.median_us);
    entry.measurement = bench_.recorder.record(problem_, entry.variant, entry.reply, entry.compile_ms);
  }
}

// Everybody who could still win, against inputs that nobody has seen. The base too: it is what dispatch falls
// back to.
void ProblemRun::recheck(std::vector<Ticket>& tickets) {
  PrepareRequest prepare;
  prepare.op = bench_.op.name;
  prepare.problem = problem_.text();
  prepare.seed = bench_.options.seed ^ recheck_seed;
  bool prepared = false;
  std::vector<Ticket> passed;
  while (!bench_.interrupted()) {
    const std::vector<Contender> list = contenders(tickets);
    std::vector<Ticket> candidates;
    if (std::find(tickets.begin(), tickets.end(), Ticket{0}) != tickets.end()) candidates.push_back(0);
    for (const std::int64_t alignment : {std::int64_t{0}, element_alignment(bench_.op, problem_)}) {
      if (const auto winner = choose_winner(list, bench_.policy, alignment)) {
        candidates.push_back(static_cast<Ticket>(*winner));
      }
    }
    for (const WinnerRow& row : previous_) {
      for (const Ticket ticket : tickets) {
        const Entry& entry = entries_[static_cast<std::size_t>(ticket)];
        if (entry.variant.source.hash == row.variant.source_hash) candidates.push_back(ticket);
      }
    }
    const auto unknown = std::find_if(candidates.begin(), candidates.end(), [&](Ticket ticket) {
      return std::find(passed.begin(), passed.end(), ticket) == passed.end();
    });
    if (unknown == candidates.end()) return;
    if (!std::exchange(prepared, true)) bench_.worker.prepare(prepare);
    const auto reply = ask(entries_[static_cast<std::size_t>(*unknown)], true, 0);
    if (!reply) return;
    if (reply->verdict == Verdict::ok) {
      passed.push_back(*unknown);
    } else {
      MeasureReply failed = *reply;
      failed.reason = "With other inputs: " + failed.reason;
      fail(*unknown, failed);
      tickets = without(tickets, *unknown);
    }
    show("finals: checking again", static_cast<std::int64_t>(passed.size()),
         static_cast<std::int64_t>(candidates.size()));
  }
}

void ProblemRun::choose(const std::vector<Ticket>& tickets) {
  const auto find = [&](const WinnerRow& row) {
    return std::find_if(tickets.begin(), tickets.end(), [&](Ticket ticket) {
      return entries_[static_cast<std::size_t>(ticket)].variant.source.hash == row.variant.source_hash;
    });
  };
  const std::string caches = bench_.options.cold_caches ? "cold" : "warm";
  std::vector<std::int64_t> stale;  // alignments
  for (const WinnerRow& row : previous_) {
    const auto found = find(row);
    if (found == tickets.end()) {
      stale.push_back(row.alignment_bytes);
      continue;
    }
    const Entry& entry = entries_[static_cast<std::size_t>(*found)];
    bench_.recorder.set_winner(entry.measurement, row.alignment_bytes, row.caches != caches);
    bench_.recorder.put_binary(entry.variant, entry.binary);
  }

  const std::int64_t element_bytes = element_alignment(bench_.op, problem_);
  const std::vector<Contender> list = contenders(tickets);
  std::vector<Ticket> winners;
  for (const std::int64_t alignment : {std::int64_t{0}, element_bytes}) {
    const auto chosen = choose_winner(list, bench_.policy, alignment);
    if (chosen && std::find(winners.begin(), winners.end(), static_cast<Ticket>(*chosen)) == winners.end()) {
      winners.push_back(static_cast<Ticket>(*chosen));
    }
  }
  for (const Ticket ticket : winners) {
    const Entry& entry = entries_[static_cast<std::size_t>(ticket)];
    const std::int64_t alignment = entry.variant.alignment_bytes;
    const bool is_stale = std::find(stale.begin(), stale.end(), alignment) != stale.end();
    const SetWinner set = bench_.recorder.set_winner(entry.measurement, alignment, is_stale);
    if (set.taken) bench_.recorder.put_binary(entry.variant, entry.binary);
    std::erase(stale, alignment);
    TunedWinner winner;
    winner.any_alignment = alignment <= element_bytes;
    winner.template_name = entry.variant.tmpl->name;
    winner.config = entry.variant.point.config.text();
    winner.time = summarize(entry.reply.samples_us);
    winner.alignment_bytes = alignment;
    winner.registers = entry.reply.registers;
    if (!set.taken) winner.note = set.why;
    result_.winners.push_back(std::move(winner));
  }
  // Where this run has no winner of that alignment nothing would ever replace them.
  if (!winners.empty()) {
    for (const std::int64_t alignment : stale) bench_.recorder.drop_winner(problem_, alignment);
  }
  if (!tickets.empty() && tickets.front() == 0) {
    const Entry& base = entries_.front();
    bench_.recorder.put_binary(base.variant, base.binary);
    result_.base = summarize(base.reply.samples_us);
  }
}

}  // namespace tunesmith
