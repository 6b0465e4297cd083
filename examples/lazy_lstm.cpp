// An LSTM cell as lazy tensors, over a short sequence: all steps at once, compiled as one graph;
// and step by step, where every step after the first is found in the schedule cache.
#include "lazy_weights.h"

namespace {

using examples::weights;
using tenon::Tensor;

constexpr int64_t kInputs = 6, kHidden = 8, kSteps = 5, kBatch = 2;

struct State {
  Tensor hidden = Tensor::zeros({kBatch, kHidden}), cell = Tensor::zeros({kBatch, kHidden});
};

// Gates in PyTorch's order: input, forget, cell, output.
struct Lstm {
  Tensor of_input = weights({4 * kHidden, kInputs}, 1),
         of_hidden = weights({4 * kHidden, kHidden}, 2);
  Tensor bias = weights({4 * kHidden}, 3);

  State operator()(const Tensor& x, const State& before) const {
    const Tensor gates = x.linear(of_input, bias) + before.hidden.linear(of_hidden);
    const std::vector<Tensor> parts = gates.chunk(4, -1);
    const Tensor kept = parts[1].sigmoid() * before.cell;
    const Tensor cell = kept + parts[0].sigmoid() * parts[2].tanh();
    return {parts[3].sigmoid() * cell.tanh(), cell};
  }
};

}  // namespace

int main(int, char** argv) {
  const std::string data = argv[1];
  const Tensor sequence = weights({kSteps, kBatch, kInputs}, 4, 4);
  const Lstm lstm;

  State state;
  std::vector<Tensor> hidden;
  for (int64_t step = 0; step < kSteps; ++step) {
    state = lstm(sequence[step], state);
    hidden.push_back(state.hidden);
  }
  const Tensor all = Tensor::stack(hidden).realize();
  const int wrong = examples::compare("all steps", all, data + "/lazy_lstm.npy");

  State slow;
  tenon::realize_batch({slow.hidden, slow.cell});
  for (int64_t step = 0; step < kSteps; ++step) {
    slow = lstm(sequence.index({tenon::Extent(step)}).realize(), slow);
    tenon::realize_batch({slow.hidden, slow.cell});
  }
  const Tensor last = all[-1];
  const auto off = (slow.hidden - last).abs().max().realize().item<float>();
  std::printf("step by step: %s\n", off < 1e-6F ? "the same" : "not the same");
  return wrong;
}
