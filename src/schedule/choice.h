// Choices: what a search may tell a schedule. Each schedule asks for what it decides
// (decisions.def), with the answer of its model and the others that are legal; one that a choice
// has wins over the model's. Any choice is safe: what is not asked for, or not legal, is ignored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::schedule {

enum class Decision : uint8_t {
#define DECISION(name, text, what) name,
#include "schedule/decisions.def"
#undef DECISION
};

struct DecisionInfo {
  std::string_view text;  // in choices
  std::string_view what;
};
inline constexpr DecisionInfo kDecisions[] = {
#define DECISION(name, text, what) {#text, what},
#include "schedule/decisions.def"
#undef DECISION
};

// Values of some decisions; the others are left to the model.
struct Choice {
  std::map<Decision, int64_t> values;

  static Result<Choice> parse(std::string_view text);
  bool operator==(const Choice&) const = default;
};
std::string to_string(const Choice& choice);  // "row_block=336 column_groups=8"

// A decision that a schedule made.
struct Decided {
  Decision decision;
  int64_t value;
  int64_t analytic;              // the model's
  std::vector<int64_t> options;  // that are legal, ascending, both values among them
};

// Makes the decisions of one schedule.
class Decisions {
 public:
  explicit Decisions(Choice choice) : choice_(std::move(choice)) {}

  // Asked again, the answer is the same. `options` need not have the model's.
  int64_t decide(Decision decision, int64_t analytic, std::vector<int64_t> options);
  std::vector<Decided> take() { return std::move(made_); }

 private:
  Choice choice_;
  std::vector<Decided> made_;
};

// All that a schedule decided.
Choice choice_of(const std::vector<Decided>& decided);
// Those that differ from it in one decision.
std::vector<Choice> neighbours(const std::vector<Decided>& decided);
// Whether the schedule did all that the choice says.
bool obeys(const std::vector<Decided>& decided, const Choice& choice);

// `unit`, twice, four times as much ... as far as `most`.
std::vector<int64_t> doublings(int64_t unit, int64_t most);

}  // namespace tenon::schedule
