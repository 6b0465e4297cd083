// Options that are given alike are equal at first sight, which is all that a hit pays for. Others
// are compared as what they stand for: a profile, a default and the environment may say the same.
#include "api/differing_options.h"

#include <fmt/ranges.h>

#include <set>
#include <tuple>

#include "api/option_texts.h"

namespace tenon {
namespace {

std::string text_of(const OptionTexts& texts, const std::string& name) {
  const auto found = texts.find(name);
  return found == texts.end() || found->second.empty() ? "none" : found->second;
}

}  // namespace

bool are_given_alike(const CompileOptions& a, const CompileOptions& b) {
  const auto all = [](const CompileOptions& o) {
    return std::tie(o.device, o.cuda_arch, o.threads, o.cpu, o.codegen, o.precision,
                    o.precision_policy, o.dim_bounds, o.dim_binding, o.fusion, o.supported_ops,
                    o.dispatch, o.memory, o.optimizer, o.tuned, o.specialize, o.profile);
  };
  const auto typical = [](const CompileOptions& o) {
    return o.beam ? o.beam->typical : DimBinding();
  };
  return all(a) == all(b) && typical(a) == typical(b);
}

std::string differing_options(const CompileOptions& before, const CompileOptions& now) {
  if (are_given_alike(before, now)) return {};
  const OptionTexts old_texts = option_texts(before), new_texts = option_texts(now);
  std::set<std::string> names;
  for (const OptionTexts* texts : {&old_texts, &new_texts}) {
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
