// See planned_by.h. Each option is a row of one table: how it is written, and how it is read.
#include "api/planned_by.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "api/driver_options.h"
#include "base/error.h"
#include "compiled/device_id.h"
#include "legalize/dispatch.h"
#include "legalize/precision.h"
#include "plan/plan_options.h"

namespace tenon {
namespace {

constexpr std::string_view kNumbers[] = {"f32", "f16", "bf16", "by_f16", "by_bf16", "by_int8"};

using Words = std::vector<std::string_view>;

Words split(std::string_view text, std::string_view by) {
  Words words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(by), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + by.size(), text.size()));
  }
  return words;
}

Words words_of(std::string_view text, size_t count) {
  Words words = split(text, " ");
  if (words.size() != count) throw user_error("\"{}\" are not {} words", text, count);
  return words;
}

template <typename Enum, size_t count>
Enum read_name(std::string_view text, const std::string_view (&names)[count]) {
  const auto* const found = std::ranges::find(names, text);
  if (found == std::end(names))
    throw user_error("\"{}\" is not known; there are: {}", text, fmt::join(names, ", "));
  return static_cast<Enum>(found - std::begin(names));
}

template <typename Int>
Int read_integer(std::string_view text) {
  Int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw user_error("\"{}\" is no number", text);
  return value;
}

template <typename Strings>
Strings read_list(std::string_view text) {
  const Words words = split(text, ", ");
  return Strings(words.begin(), words.end());
}

std::string print_policy(const PrecisionOptions& options) {
  std::string text(legalize::kPrecisionPolicies[static_cast<size_t>(options.policy)]);
  if (options.policy != PrecisionPolicy::Custom) return text;
  for (const Numbers numbers : options.custom)
    text += fmt::format(" {}", kNumbers[static_cast<size_t>(numbers)]);
  return text;
}

PrecisionOptions read_policy(std::string_view text) {
  PrecisionOptions result;
  const size_t name = std::min(text.find(' '), text.size());
  result.policy = read_name<PrecisionPolicy>(text.substr(0, name), legalize::kPrecisionPolicies);
  if (result.policy != PrecisionPolicy::Custom) return result;
  const Words words = words_of(text, 1 + kOpCategories);
  for (size_t i = 0; i < kOpCategories; ++i)
    result.custom[i] = read_name<Numbers>(words[1 + i], kNumbers);
  return result;
}

std::string print_dispatch(const DispatchOptions& options) {
  std::string text(legalize::kDispatchPolicies[static_cast<size_t>(options.policy)]);
  for (const auto& [op, policy] : options.overrides)
    text += fmt::format(", {} {}", op, legalize::kDispatchPolicies[static_cast<size_t>(policy)]);
  return text;
}

DispatchOptions read_dispatch(std::string_view text) {
  const Words parts = split(text, ", ");
  DispatchOptions result;
  result.policy =
      read_name<DispatchPolicy>(parts.empty() ? text : parts[0], legalize::kDispatchPolicies);
  for (size_t i = 1; i < parts.size(); ++i) {
    const Words pair = words_of(parts[i], 2);
    result.overrides[std::string(pair[0])] =
        read_name<DispatchPolicy>(pair[1], legalize::kDispatchPolicies);
  }
  return result;
}

using Text = std::optional<std::string>;  // absent: left out

struct Option {
  std::string_view name;
  Text (*print)(const CompileOptions& options);
  void (*read)(std::string_view text, CompileOptions& options);
};

constexpr Option kOptions[] = {
    {"device",
     [](const CompileOptions& o) {
       return o.device ? Text(name_of(device_id(*o.device).kind))
                       : Text();  // whichever of its kind
     },
     [](std::string_view text, CompileOptions& o) { o.device = Device::parse(text); }},
    {"cuda_arch",
     [](const CompileOptions& o) {
       return o.cuda_arch == 0 ? Text() : Text(fmt::to_string(o.cuda_arch));
     },
     [](std::string_view text, CompileOptions& o) { o.cuda_arch = read_integer<int>(text); }},
    {"cpu", [](const CompileOptions& o) { return o.cpu.empty() ? Text() : Text(o.cpu); },
     [](std::string_view text, CompileOptions& o) { o.cpu = text; }},
    {"precision",
     [](const CompileOptions& o) { return o.precision.empty() ? Text() : Text(o.precision); },
     [](std::string_view text, CompileOptions& o) { o.precision = text; }},
    {"precision_policy",
     [](const CompileOptions& o) {
       return o.precision_policy ? Text(print_policy(*o.precision_policy)) : Text();
     },
     [](std::string_view text, CompileOptions& o) { o.precision_policy = read_policy(text); }},
    {"fusion.limits",
     [](const CompileOptions& o) {
       const auto& limits = o.fusion.limits;
       return limits ? Text(fmt::format("{} {}", limits->max_steps, limits->max_inputs)) : Text();
     },
     [](std::string_view text, CompileOptions& o) {
       const Words words = words_of(text, 2);
       o.fusion.limits = {read_integer<int>(words[0]), read_integer<int>(words[1])};
     }},
    {"fusion.skip",
     [](const CompileOptions& o) {
       const auto& skip = o.fusion.skip;
       return skip ? Text(fmt::format("{}", fmt::join(*skip, ", "))) : Text();
     },
     [](std::string_view text, CompileOptions& o) {
       o.fusion.skip = read_list<std::vector<std::string>>(text);
     }},
    {"supported_ops",
     [](const CompileOptions& o) {
       const auto& ops = o.supported_ops;
       return ops ? Text(fmt::format("{}", fmt::join(*ops, ", "))) : Text();
     },
     [](std::string_view text, CompileOptions& o) {
       o.supported_ops = read_list<std::set<std::string>>(text);
     }},
    {"dispatch",
     [](const CompileOptions& o) {
       return o.dispatch ? Text(print_dispatch(*o.dispatch)) : Text();
     },
     [](std::string_view text, CompileOptions& o) { o.dispatch = read_dispatch(text); }},
    {"optimizer",
     [](const CompileOptions& o) { return o.optimizer ? Text(to_string(*o.optimizer)) : Text(); },
     [](std::string_view text, CompileOptions& o) { o.optimizer = OptStrategy::parse(text); }},
    {"tuned", [](const CompileOptions& o) { return o.tuned.empty() ? Text() : Text(o.tuned); },
     [](std::string_view text, CompileOptions& o) { o.tuned = text; }},
    {"memory",
     [](const CompileOptions& o) {
       if (!o.memory) return Text();
       return Text(fmt::format("{} {}", plan::kModes[static_cast<size_t>(o.memory->mode)],
                               o.memory->alignment));
     },
     [](std::string_view text, CompileOptions& o) {
       const Words words = words_of(text, 2);
       o.memory = {read_name<PlanMode>(words[0], plan::kModes), read_integer<int64_t>(words[1])};
     }},
};

// `  NAME VALUE`
void read_line(std::string_view line, CompileOptions& options) {
  constexpr std::string_view kIndent = "  ";
  if (!line.starts_with(kIndent)) throw user_error("expected an option, two spaces before it");
  line.remove_prefix(kIndent.size());
  const size_t end = std::min(line.find(' '), line.size());
  const auto* const option = std::ranges::find(kOptions, line.substr(0, end), &Option::name);
  if (option == std::end(kOptions))
    throw user_error("there is no option \"{}\"", line.substr(0, end));
  option->read(line.substr(std::min(end + 1, line.size())), options);
}

void check_agrees(const CompileOptions& given, const CompileOptions& text) {
  for (const Option& option : kOptions) {
    const Text asked = option.print(given), planned = option.print(text);
    if (!asked || asked == planned) continue;
    throw user_error("[lir] the options say {} {}, the text was planned by {}", option.name, *asked,
                     planned.value_or("none"));
  }
}

}  // namespace

void check_planned_by(const CompileOptions& planned, const CompileOptions& asked) {
  const auto decided = [](const CompileOptions& o) {
    return std::tuple(
        device_of(o), o.cuda_arch, o.cpu, o.codegen, o.precision,
        o.precision_policy.value_or(PrecisionOptions()),
        o.fusion.policy.value_or(FusionPolicy::Direct), o.fusion.limits.value_or(FusionLimits()),
        o.fusion.skip.value_or(std::vector<std::string>()), o.fusion.assert_clean, o.dim_binding,
        o.dim_bounds, o.dispatch.value_or(DispatchOptions()), o.supported_ops,
        o.memory.value_or(PlanOptions()), o.optimizer.value_or(OptStrategy()), o.tuned);
  };
  if (decided(merged(planned, asked)) != decided(planned))
    throw user_error(
        "[compile] the LirModule is planned already: device, target, fusion, dispatch, memory, "
        "optimizer and dim_binding are given to the pipeline that plans it");
}

CompileOptions planned_by(const CompileOptions& options, const driver::Options& decided) {
  CompileOptions result = options;
  result.device = device_of(options);
  result.cuda_arch = decided.cuda_arch;
  if (result.device->kind() != Device::Kind::Cuda) result.cpu = to_string(decided.cpu.isa);
  result.precision = schedule::kPrecisions[static_cast<size_t>(decided.precision)];
  result.precision_policy = decided.precision_policy;
  result.fusion.limits = decided.fusion_limits;
  result.fusion.skip = decided.skip;
  result.dispatch = decided.dispatch;
  result.optimizer = decided.optimizer;
  result.memory = decided.plan;
  return result;
}

std::string print_planned_by(const CompileOptions& options) {
  std::string text;
  for (const Option& option : kOptions) {
    const Text value = option.print(options);
    if (value) text += fmt::format("  {} {}\n", option.name, *value);
  }
  return text;
}

CompileOptions read_planned_by(std::string_view text, int first_line, const CompileOptions& given) {
  CompileOptions result;
  for (const std::string_view line : split(text, "\n")) {
    try {
      read_line(line, result);
    } catch (const Error& error) {
      throw user_error("[lir] line {}: {}", first_line, error.what());
    }
    ++first_line;
  }
  check_agrees(given, result);
  return merged(result, given);
}

}  // namespace tenon
