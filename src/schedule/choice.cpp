// See choice.h.
#include "schedule/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>

#include "base/error.h"

namespace tenon::schedule {
namespace {

std::optional<Decision> find_decision(std::string_view text) {
  const auto* found = std::ranges::find(kDecisions, text, &DecisionInfo::text);
  if (found == std::end(kDecisions)) return std::nullopt;
  return static_cast<Decision>(found - std::begin(kDecisions));
}

const DecisionInfo& info(Decision decision) { return kDecisions[static_cast<size_t>(decision)]; }

}  // namespace

Result<Choice> Choice::parse(std::string_view text) {
  Choice choice;
  for (const auto word : std::views::split(text, ' ')) {
    const std::string_view item(word.begin(), word.end());
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    const auto decision = find_decision(item.substr(0, equals));
    int64_t value = 0;
    const std::string_view number = item.substr(std::min(equals, item.size() - 1) + 1);
    const char* past = number.data() + number.size();
    const auto [end, error] = std::from_chars(number.data(), past, value);
    if (!decision || error != std::errc() || end != past || choice.values.contains(*decision))
      return user_error("\"{}\" is no decision of a schedule", item);
    choice.values[*decision] = value;
  }
  return choice;
}

std::string to_string(const Choice& choice) {
  std::vector<std::string> items;
  for (const auto& [decision, value] : choice.values)
    items.push_back(fmt::format("{}={}", info(decision).text, value));
  return fmt::format("{}", fmt::join(items, " "));
}

int64_t Decisions::decide(Decision decision, int64_t analytic, std::vector<int64_t> options) {
  const auto known = std::ranges::find(made_, decision, &Decided::decision);
  if (known != made_.end()) return known->value;
  options.push_back(analytic);
  std::ranges::sort(options);
  options.erase(std::ranges::unique(options).begin(), options.end());
  const auto wanted = choice_.values.find(decision);
  const bool legal =
      wanted != choice_.values.end() && std::ranges::binary_search(options, wanted->second);
  made_.push_back({decision, legal ? wanted->second : analytic, analytic, std::move(options)});
  return made_.back().value;
}

Choice choice_of(const std::vector<Decided>& decided) {
  Choice choice;
  for (const Decided& made : decided) choice.values[made.decision] = made.value;
  return choice;
}

std::vector<Choice> neighbours(const std::vector<Decided>& decided) {
  const Choice here = choice_of(decided);
  std::vector<Choice> result;
  for (const Decided& made : decided) {
    for (const int64_t option : made.options) {
      if (option == made.value) continue;
      result.push_back(here);
      result.back().values[made.decision] = option;
    }
  }
  return result;
}

bool obeys(const std::vector<Decided>& decided, const Choice& choice) {
  return std::ranges::all_of(choice.values, [&](const auto& wanted) {
    return std::ranges::any_of(decided, [&](const Decided& made) {
      return made.decision == wanted.first && made.value == wanted.second;
    });
  });
}

std::vector<int64_t> doublings(int64_t unit, int64_t most) {
  std::vector<int64_t> result;
  for (int64_t value = unit; value <= most; value *= 2) result.push_back(value);
  return result;
}

}  // namespace tenon::schedule
