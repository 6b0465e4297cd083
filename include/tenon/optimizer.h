// OptStrategy: how the schedules of kernels are found: which loops become threads, tiles, packed
// panels and vectors.
//
//   tenon::Session().compile(graph, {.optimizer = tenon::OptStrategy::Plain{}});
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace tenon {

class OptStrategy {
 public:
  // A model of the machine's caches and registers chooses. The default.
  struct Analytic {
    bool operator==(const Analytic&) const = default;
  };
  // The simplest schedule of every kernel: row by row, sums in order, weights as they lie in
  // memory. Slow; the results have the same bits, so it tells whether a schedule is at fault. On
  // CPUs only.
  struct Plain {
    bool operator==(const Plain&) const = default;
  };

  // The schedule of every kernel is searched for: schedules that differ from the model's in one
  // decision are compiled and timed on this machine, the `width` fastest are looked at further,
  // until none is faster. What is found is kept on disk. The results have the same bits. On CPUs
  // only; tuning.h says more.
  struct Beam {
    int width = 4;
    bool operator==(const Beam&) const = default;
  };

  OptStrategy() = default;
  OptStrategy(Analytic analytic) : choice_(analytic) {}  // NOLINT(google-explicit-constructor)
  OptStrategy(Plain plain) : choice_(plain) {}           // NOLINT(google-explicit-constructor)
  OptStrategy(Beam beam);                                // NOLINT(google-explicit-constructor)
  // "analytic", "plain", "beam" or "beam:8", as command lines and TENON_OPTIMIZER have it; others
  // are an Error.
  static OptStrategy parse(std::string_view text);

  template <typename Choice>
  bool is() const {
    return std::holds_alternative<Choice>(choice_);
  }
  int beam_width() const;  // 0: no Beam
  bool operator==(const OptStrategy&) const = default;

 private:
  friend std::string to_string(const OptStrategy& strategy);
  std::variant<Analytic, Plain, Beam> choice_;
};
std::string to_string(const OptStrategy& strategy);  // what parse reads

}  // namespace tenon
