// A LirModule as text, and back:
//   lir FINGERPRINT
//   options          what it was planned by (planned_by.h)
//     ...
//   plan             memory and steps (plan_text.cpp)
//     ...
//   graph            nodes with their phases
//     ...
// The graph and the options decide all the rest. So reading plans again and compares the lines:
// what was read prints as it was, to the letter.
#include <fmt/format.h>

#include <algorithm>

#include "api/driver_options.h"
#include "api/lir_state.h"
#include "api/planned_by.h"
#include "base/error.h"
#include "graph/print_with_notes.h"
#include "tenon/lir.h"

namespace tenon {
namespace {

// A part of the text, from its first line on.
struct Section {
  std::string_view text;
  int line;
};

// Cuts the text before the line that is `title`.
std::string_view cut(Section& rest, std::string_view title) {
  const size_t at = rest.text.find(fmt::format("\n{}\n", title));
  if (at == std::string_view::npos)
    throw user_error("[lir] after line {}: there is no line \"{}\"", rest.line, title);
  const std::string_view before = rest.text.substr(0, at + 1);
  rest.text.remove_prefix(at + 1);
  rest.line += static_cast<int>(std::ranges::count(before, '\n'));
  return before;
}

// Empty lines stand for what comes before the graph: errors name lines of the whole text.
graph::Graph read_graph(const Section& section) {
  std::string text(static_cast<size_t>(section.line - 1), '\n');
  return graph::parse(text.append(section.text));
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

void expect_same(std::string_view given, std::string_view planned) {
  constexpr size_t kShown = 200;
  for (int line = 1; given != planned; ++line) {
    const bool ends = given.empty() || planned.empty();
    const std::string_view read = take_line(given), made = take_line(planned);
    if (read == made && !ends) continue;
    throw user_error("[lir] line {}: it says \"{}\", but the graph and the options give \"{}\"{}",
                     line, read.substr(0, kShown), made.substr(0, kShown),
                     line == 1 ? ": they were changed" : "");
  }
}

}  // namespace

std::string LirModule::print() const {
  const LirState& state = LirState::of(*this);
  const auto phases = phases_of(state.lir.graph);
  const auto phase = [&](const graph::Node& node) { return to_string(phases.at(&node)); };
  return fmt::format("lir {}\noptions\n{}{}{}", fingerprint(), print_planned_by(state.options),
                     to_string(state.plan), graph::print_with_notes(state.lir.graph, phase));
}

LirModule LirModule::parse(std::string_view text, const CompileOptions& given) {
  if (!given.dim_binding.empty())
    throw user_error("[lir] the text is planned already: specialize what was read from it");
  check_dim_bounds(given);
  if (!text.starts_with("lir ")) throw user_error("[lir] line 1: expected \"lir FINGERPRINT\"");
  Section rest{text, 1};
  cut(rest, "options");
  const int first_option = rest.line + 1;
  std::string_view options_text = cut(rest, "plan");
  take_line(options_text);
  cut(rest, "graph");
  const CompileOptions options = read_planned_by(options_text, first_option, with_profile(given));
  const auto level = verbosity_of(options);
  const graph::Graph graph = read_graph(rest);
  driver::Pipeline(driver_options(options)).check_optimized(graph);
  LirModule result = LirState::plan_of(graph, options);
  expect_same(text, result.print());
  return result;
}

}  // namespace tenon
