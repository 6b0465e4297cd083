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

  OptStrategy() = default;
  OptStrategy(Analytic analytic) : choice_(analytic) {}  // NOLINT(google-explicit-constructor)
  OptStrategy(Plain plain) : choice_(plain) {}           // NOLINT(google-explicit-constructor)
  // "analytic" or "plain", as command lines and TENON_OPTIMIZER have it; others are an Error.
  static OptStrategy parse(std::string_view text);

  template <typename Choice>
  bool is() const {
    return std::holds_alternative<Choice>(choice_);
  }
  bool operator==(const OptStrategy&) const = default;

 private:
  friend std::string to_string(const OptStrategy& strategy);
  std::variant<Analytic, Plain> choice_;
};
std::string to_string(const OptStrategy& strategy);  // what parse reads

}  // namespace tenon
