#include "tools/tenon/accuracy.h"

#include <algorithm>
#include <cmath>

#include "tenon/dtype.h"
#include "tools/tenon/compile.h"

namespace tenon::cli {

std::vector<Outputs> outputs_in_f32(const ModelOptions& options,
                                    const std::vector<GivenInput>& given,
                                    const std::vector<Extents>& extents) {
  std::vector<Outputs> results;
  compile_options(options);  // before anything is compiled: whether they make sense
  if (options.precision == "f32" || is_artifact(options.model)) return results;
  ModelOptions plain = options;
  plain.precision = "f32";
  fmt::print(stderr, "tenon: in f32, to compare with:\n");
  CompiledGraph graph = compile_model(plain, 0);
  for (const Extents& each : extents) {
    Inputs inputs = plan_inputs(graph, given, each);
    fill_inputs(graph, given, inputs);
    results.push_back(graph.run_typed(inputs.views));
  }
  return results;
}

std::optional<double> error_of(const Outputs& outputs, const Outputs& in_f32) {
  std::optional<double> worst;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const DType dtype = outputs[i].dtype;
    if (!is_float(dtype)) continue;
    const auto count = static_cast<int64_t>(outputs[i].bytes.size()) / size_of(dtype);
    double difference = 0, squares = 0;
    for (int64_t at = 0; at < count; ++at) {
      const double wanted = load_as_f64(dtype, in_f32[i].bytes.data() + at * size_of(dtype)),
                   found = load_as_f64(dtype, outputs[i].bytes.data() + at * size_of(dtype));
      const double apart = std::abs(found - wanted);
      // Also where both are the same infinity.
      if (found != wanted) difference = std::isnan(apart) ? INFINITY : std::max(difference, apart);
      squares += wanted * wanted;
    }
    const double rms = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
    worst = std::max(worst.value_or(0), difference > 0 ? difference / rms : 0);
  }
  return worst;
}

}  // namespace tenon::cli
