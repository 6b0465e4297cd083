// See search.h.
#include "tune/search.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "base/knobs.h"
#include "base/log.h"
#include "tune/cost.h"
#include "tune/workbench.h"

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSliceMs = 1.5;        // of a turn while candidates are compared
constexpr int kTurns = 6;               // that each of them has
constexpr double kFarBehind = 1.25;     // times the fastest: it has no further turns
constexpr double kProgress = 0.995;     // of the fastest so far: a round that finds less ends it
constexpr double kWorkExplodes = 1000;  // times the least seen
constexpr double kConfirmSliceMs = 4;
constexpr int kConfirmTurns = 21;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Timed {
  std::vector<schedule::Decided> decided;
  std::unique_ptr<Candidate> candidate;  // null: the model's
  double ms = std::numeric_limits<double>::infinity();
  bool expanded = false;
};

class Search {
 public:
  Search(const kernel::Kernel& lowered, const driver::Backend& backend, const Extents& extents,
         const SearchOptions& options)
      : lowered_(lowered),
        backend_(backend),
        extents_(extents),
        options_(options),
        by_model_(backend.schedule(lowered, {})),
        workbench_(backend, by_model_, extents, options.threads) {}

  Found run() {
    is_new(by_model_.kernel);
    least_work_ = cost_of(by_model_.kernel, extents_).work;
    beam_.push_back({.decided = by_model_.decided});
    take_turns(0);
    found_.default_ms = found_.tuned_ms = beam_[0].ms;
    while (go_on() && round()) {
    }
    if (!found_.stopped && beam_[0].candidate) confirm(beam_[0]);
    found_.seconds = seconds_since(begin_);
    return found_;
  }

 private:
  Candidate& candidate_of(const Timed& timed) {
    return timed.candidate ? *timed.candidate : workbench_.by_model();
  }
  bool go_on() {
    if (!found_.stopped)
      found_.stopped = !options_.progress(found_.candidates, found_.default_ms, beam_[0].ms);
    return !found_.stopped && seconds_since(begin_) < options_.config.timeout;
  }
  bool is_new(const kernel::Kernel& scheduled) {
    return seen_.insert(kernel::canonical_text(scheduled)).second;
  }

  // Whether it found something faster.
  bool round() {
    ++found_.rounds;
    const double before = beam_[0].ms;
    const size_t old = beam_.size();
    for (size_t i = 0; i < old; ++i) {
      if (std::exchange(beam_[i].expanded, true)) continue;
      for (const schedule::Choice& choice : neighbours(beam_[i].decided)) {
        if (!go_on()) break;
        add(choice);
      }
    }
    if (beam_.size() == old || found_.stopped) return false;
    take_turns(old);
    std::ranges::stable_sort(beam_, {}, &Timed::ms);
    beam_.resize(std::min(beam_.size(), static_cast<size_t>(options_.width)));
    return beam_[0].ms < before * kProgress;
  }

  void add(const schedule::Choice& choice) {
    const schedule::Scheduled scheduled = backend_.schedule(lowered_, choice);
    if (!is_new(scheduled.kernel)) return;
    const Cost cost = cost_of(scheduled.kernel, extents_);
    least_work_ = std::min(least_work_, cost.work);
    if (cost.code > static_cast<double>(options_.config.max_ops))
      return drop(choice, cost, fmt::format("{:.0f} operations", cost.code));
    if (cost.work > kWorkExplodes * least_work_)
      return drop(choice, cost, fmt::format("it computes {:.0e} operations", cost.work));
    const auto begin = Clock::now();
    const auto code = options_.compile(scheduled.kernel);
    if (!code) return drop(choice, cost, code.error().what());
    if (seconds_since(begin) > options_.config.compile_timeout)
      return drop(choice, cost, "it took too long to compile");
    Timed timed{.decided = scheduled.decided,
                .candidate = workbench_.prepare(scheduled.kernel, code.value())};
    ++found_.candidates;
    if (!workbench_.gives_the_same(*timed.candidate)) {
      log(LogLevel::Error,
          "[tune] {} with {} gives other bits: a problem of Tenon's, please report", lowered_.name,
          to_string(choice));
      return drop(choice, cost, "other bits than the default");
    }
    beam_.push_back(std::move(timed));
  }

  void drop(const schedule::Choice& choice, const Cost& cost, const std::string& reason) {
    ++found_.dropped;
    if (knobs().beam_log == "1")
      log_message(LogLevel::Info, fmt::format("[beam] {} dropped: {}; {}; {}", lowered_.name,
                                              reason, largest_kinds(cost), to_string(choice)));
  }

  // Times those from `first` on, the fastest of those before as well: the machine may be another
  // than it was a moment ago.
  void take_turns(size_t first) {
    std::vector<Timed*> running;
    if (first > 0) running.push_back(&beam_[0]);
    for (size_t i = first; i < beam_.size(); ++i) running.push_back(&beam_[i]);
    for (int turn = 0; turn < kTurns; ++turn) {
      double best = std::numeric_limits<double>::infinity();
      for (Timed* timed : running) {
        timed->ms = std::min(timed->ms, workbench_.time(candidate_of(*timed), kSliceMs));
        best = std::min(best, timed->ms);
      }
      std::erase_if(running, [&](const Timed* timed) { return timed->ms > kFarBehind * best; });
    }
  }

  // The winner and the default again, in turns.
  void confirm(const Timed& winner) {
    std::vector<double> defaults, ratios;
    for (int turn = 0; turn < kConfirmTurns; ++turn) {
      const double by_default = workbench_.time(workbench_.by_model(), kConfirmSliceMs);
      defaults.push_back(by_default);
      ratios.push_back(by_default / workbench_.time(candidate_of(winner), kConfirmSliceMs));
    }
    const double ratio = median(ratios);
    found_.default_ms = found_.tuned_ms = median(defaults);
    if (ratio < 1 + options_.config.margin) return;
    found_.tuned_ms = found_.default_ms / ratio;
    found_.choice = choice_of(winner.decided);
  }

  const kernel::Kernel& lowered_;
  const driver::Backend& backend_;
  const Extents& extents_;
  const SearchOptions& options_;
  const Clock::time_point begin_ = Clock::now();
  const schedule::Scheduled by_model_;
  Workbench workbench_;
  std::unordered_set<std::string> seen_;
  std::vector<Timed> beam_;  // the fastest first, between rounds
  double least_work_ = 0;
  Found found_;
};

}  // namespace

Found search(const kernel::Kernel& lowered, const driver::Backend& backend, const Extents& extents,
             const SearchOptions& options) {
  return Search(lowered, backend, extents, options).run();
}

}  // namespace tenon::tune
