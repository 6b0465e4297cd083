// See option_texts.h.
#include "api/option_texts.h"

#include <fmt/format.h>

#include <sstream>

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

}  // namespace

OptionTexts option_texts(const CompileOptions& given) {
  const CompileOptions profiled = with_profile(given);
  const CompileOptions o =
      planned_by(profiled, driver::Pipeline(driver_options(profiled)).options());
  OptionTexts texts;
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
  const DimBinding typical = o.beam ? o.beam->typical : DimBinding();
  for (const auto& [name, value] : typical.values())
    texts["beam.typical." + name] = fmt::to_string(value);
  for (const auto& [name, value] : o.dim_binding.values())
    texts["dim_binding." + name] = fmt::to_string(value);
  for (const auto& [name, range] : o.dim_bounds)
    texts["dim_bounds." + name] = fmt::format("{}..{}", range.first, range.second);
  return texts;
}

}  // namespace tenon
