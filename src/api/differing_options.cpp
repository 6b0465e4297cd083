// Options that are given alike are equal at first sight, which is all that a hit pays for. Others
// are compared as what they stand for: a profile, a default and the environment may say the same.
#include "api/differing_options.h"

#include <fmt/ranges.h>

#include <set>
#include <sstream>
#include <tuple>

#include "api/driver_options.h"
#include "api/planned_by.h"
#include "api/specialized.h"
#include "base/knobs.h"
#include "driver/pipeline.h"

namespace tenon {
namespace {

// As it is chosen on CPUs; GPUs have no choice.
std::string codegen_of(const CompileOptions& options) {
  const std::string& name = options.codegen.empty() ? knobs().codegen : options.codegen;
  return name.empty() ? "llvm" : name;
}

using Texts = std::map<std::string, std::string>;  // by the option's name

Texts texts_of(const CompileOptions& given) {
  const CompileOptions profiled = with_profile(given);
  const CompileOptions o =
      planned_by(profiled, driver::Pipeline(driver_options(profiled)).options());
  Texts texts;
  std::istringstream lines(print_planned_by(o));
  for (std::string line; std::getline(lines, line);) {  // `  NAME VALUE`
    const size_t end = line.find(' ', 2);
    texts[line.substr(2, end - 2)] = line.substr(end + 1);
  }
  texts["device"] = to_string(device_of(o));  // with its index
  texts["threads"] = o.threads == 0 ? "all" : fmt::to_string(o.threads);
  texts["codegen"] = codegen_of(o);
  const auto special = specialization_of(o);
  texts["specialize"] = special ? fmt::format("after {}, cpu_share {}, most {}", special->after,
                                              special->cpu_share, special->most)
                                : "";
  texts["fusion.policy"] = o.fusion.policy == FusionPolicy::Fusable ? "fusable" : "direct";
  texts["fusion.assert_clean"] = fmt::to_string(o.fusion.assert_clean.value_or(false));
  for (const auto& [name, value] : o.dim_binding.values())
    texts["dim_binding." + name] = fmt::to_string(value);
  for (const auto& [name, range] : o.dim_bounds)
    texts["dim_bounds." + name] = fmt::format("{}..{}", range.first, range.second);
  return texts;
}

std::string text_of(const Texts& texts, const std::string& name) {
  const auto found = texts.find(name);
  return found == texts.end() || found->second.empty() ? "none" : found->second;
}

}  // namespace

bool are_given_alike(const CompileOptions& a, const CompileOptions& b) {
  const auto all = [](const CompileOptions& o) {
    return std::tie(o.device, o.cuda_arch, o.threads, o.cpu, o.codegen, o.precision,
                    o.precision_policy, o.dim_bounds, o.dim_binding, o.fusion, o.supported_ops,
                    o.dispatch, o.memory, o.optimizer, o.specialize, o.profile);
  };
  return all(a) == all(b);
}

std::string differing_options(const CompileOptions& before, const CompileOptions& now) {
  if (are_given_alike(before, now)) return {};
  const Texts old_texts = texts_of(before), new_texts = texts_of(now);
  std::set<std::string> names;
  for (const Texts* texts : {&old_texts, &new_texts}) {
    for (const auto& [name, text] : *texts) names.insert(name);
  }
  std::vector<std::string> differing;
  for (const std::string& name : names) {
    const std::string was = text_of(old_texts, name), is = text_of(new_texts, name);
    if (was != is) differing.push_back(fmt::format("{} {}, now {}", name, was, is));
  }
  return fmt::format("{}", fmt::join(differing, "; "));
}

}  // namespace tenon
