// Evaluation of nll_loss: the log probability of each target class, weighted and negated. A target
// that is ignored has loss and weight 0.
#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

Results nll_loss(const Evaluation& e) {
  const Tensor &x = e.operand(0), &target = e.operand(1);
  const int64_t classes = x.shape[1];
  const AttributeValue* ignore = e.attributes().find("ignore");
  const std::vector<double> values = to_doubles(x), weight = to_doubles(e.operand(2));
  const std::vector<int64_t> targets = to_integers(target);
  const int64_t inner = element_count(std::span(x.shape).subspan(2));
  if (static_cast<int64_t>(weight.size()) != classes ||
      static_cast<int64_t>(targets.size()) != x.shape[0] * inner) {
    throw user_error("[nll_loss] targets [{}] and {} weights do not fit [{}]",
                     fmt::join(target.shape, ", "), weight.size(), fmt::join(x.shape, ", "));
  }
  std::vector<double> loss(targets.size()), weights(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    const int64_t at = targets[i];
    if (ignore != nullptr && at == std::get<int64_t>(*ignore)) continue;
    if (at < 0 || at >= classes) {
      throw user_error("[nll_loss] target {} is none of {} classes", at, classes);
    }
    const auto row = static_cast<int64_t>(i);
    weights[i] = weight[static_cast<size_t>(at)];
    loss[i] = -weights[i] *
              values[static_cast<size_t>((row / inner * classes + at) * inner + row % inner)];
  }
  return {from_doubles(x.dtype, target.shape, loss), from_doubles(x.dtype, target.shape, weights)};
}

}  // namespace tenon::graph::evaluators
