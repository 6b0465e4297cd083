// Evaluation of linear attention: the recurrence step by step, in f64.
#include <cmath>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

namespace {

struct Step {
  std::span<const double> key, value, decay;
  double rate;
  bool delta;
};

// state [key, value] after one step.
void advance(std::vector<double>& state, const Step& step) {
  const size_t width = step.value.size();
  for (size_t i = 0; i < state.size(); ++i) state[i] *= std::exp(step.decay[i / width]);
  for (size_t c = 0; c < width; ++c) {
    double change = step.value[c];
    if (step.delta) {
      for (size_t r = 0; r < step.key.size(); ++r) change -= state[r * width + c] * step.key[r];
      change *= step.rate;
    }
    for (size_t r = 0; r < step.key.size(); ++r) state[r * width + c] += step.key[r] * change;
  }
}

void check_extents(const Evaluation& e) {
  const Extents &q = e.operand(0).shape, &v = e.operand(2).shape;
  const Extents wanted[] = {q,
                            {q[0], v[1], q[2], q[3]},
                            {q[0], v[1], q[2], v[3]},
                            {q[0], v[1], q[3], v[3]},
                            {q[0], v[1], q[2], q[3]},
                            {q[0], v[1], q[2], 1}};
  for (int i = 0; i < 6; ++i) {
    if (e.operand(i).shape == wanted[i]) continue;
    throw user_error("[linear_attention] operand {} is [{}], where [{}] is needed", i,
                     fmt::join(e.operand(i).shape, ", "), fmt::join(wanted[i], ", "));
  }
}

}  // namespace

Results linear_attention(const Evaluation& e) {
  check_extents(e);
  const Extents &q = e.operand(0).shape, &s = e.operand(3).shape;
  const auto time = static_cast<size_t>(q[2]), rows = static_cast<size_t>(s[2]),
             width = static_cast<size_t>(s[3]), states = static_cast<size_t>(s[0] * s[1]),
             group = static_cast<size_t>(q[1] / s[1]);
  const bool delta = e.attributes().integer("delta") == 1;
  std::vector<double> operand[6];
  for (int i = 0; i < 6; ++i) operand[i] = to_doubles(e.operand(i));
  const auto row = [&](int i, size_t at, size_t length) {
    return std::span<const double>(operand[i]).subspan(at * length, length);
  };
  std::vector<double> last, result(states * group * time * width);
  for (size_t n = 0; n < states; ++n) {
    const auto first = row(3, n, rows * width);
    std::vector<double> state(first.begin(), first.end());
    for (size_t t = 0; t < time; ++t) {
      const size_t at = n * time + t;
      advance(state,
              {row(1, at, rows), row(2, at, width), row(4, at, rows), operand[5][at], delta});
      for (size_t h = n * group; h < (n + 1) * group; ++h) {
        const auto query = row(0, h * time + t, rows);
        double* to = result.data() + (h * time + t) * width;
        for (size_t i = 0; i < state.size(); ++i) to[i % width] += query[i / width] * state[i];
      }
    }
    last.insert(last.end(), state.begin(), state.end());
  }
  return {from_doubles(e.dtype(), {q[0], q[1], q[2], s[3]}, result),
          from_doubles(e.dtype(1), s, last)};
}

}  // namespace tenon::graph::evaluators
