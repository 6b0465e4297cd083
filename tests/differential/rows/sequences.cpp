// Rows of recurrent layers, signal transforms and losses.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

struct Cell {
  const char* name;
  int64_t gates, functions;
};

std::string functions_of(GraphWriter& w, int64_t count) {
  std::string names;
  for (int64_t i = 0; i < count; ++i) {
    names += (i == 0 ? "" : ",") +
             w.one_of(Words{"sigmoid", "tanh", "tanh", "relu", "affine", "leakyrelu", "scaledtanh",
                            "hardsigmoid", "elu", "softsign", "softplus", "thresholdedrelu"});
  }
  return names;
}

Value recurrent(GraphWriter& w) {
  const auto [name, gates, functions] =
      w.one_of(std::vector<Cell>{{"rnn", 1, 1}, {"gru", 3, 2}, {"lstm", 4, 3}});
  const DType dtype = w.chance(85) ? DType::F32 : DType::F64;
  const auto direction = w.one_of(Words{"forward", "reverse", "bidirectional"});
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const Dim time = w.any_extent(), batch = w.any_extent();
  const int64_t in = w.number(1, 4), hidden = w.number(1, 4);
  const auto weight = [&](std::vector<Dim> dims) {
    return bounded(w, w.weight(dtype, std::move(dims)));
  };
  const auto state = [&] { return bounded(w, w.input(dtype, {directions, batch, hidden})); };
  const bool whole_time = w.chance(50);
  std::vector<Value> operands{bounded(w, w.input(dtype, {time, batch, in})),
                              weight({directions, gates * hidden, in}),
                              weight({directions, gates * hidden, hidden}),
                              weight({directions, 2 * gates * hidden}),
                              integers_between(w, {batch}, whole_time ? time : Dim(0), time),
                              state()};
  if (gates == 4) {
    operands.push_back(state());
    operands.push_back(weight({directions, 3 * hidden}));
  }
  const int64_t count = directions * functions;
  const std::vector<double> alpha(static_cast<size_t>(count), 0.25), beta(alpha.size(), 0.5);
  graph::Attributes attributes{{"cell", name},
                               {"direction", direction},
                               {"activations", functions_of(w, count)},
                               {"alpha", alpha},
                               {"beta", beta}};
  if (w.chance(30)) attributes.set("clip", 0.75);
  if (gates == 3) attributes.set("linear_before_reset", w.number(0, 1));
  if (gates == 4) attributes.set("input_forget", w.number(0, 1));
  const std::vector<Value> results =
      w.g().apply_all(Op::Recurrent, std::move(operands), std::move(attributes));
  return w.one_of(results);
}

Value fourier(GraphWriter& w) {
  Graph& g = w.g();
  const DType dtype = w.chance(80) ? DType::F32 : DType::F64;
  const int64_t inverse = w.number(0, 1), onesided = w.number(0, 1);
  const Dim time = w.any_extent();
  const bool half = onesided != 0 && inverse != 0;
  const Value x = w.input(dtype, {w.any_extent(), time, inverse != 0 || w.chance(40) ? 2 : 1});
  const int64_t length = w.number(2, 9);
  const bool given = half || w.chance(50);
  const Dim all = given ? Dim(length) : time;
  const Dim out = onesided != 0 && inverse == 0 ? floordiv(all, 2) + 1 : all;
  return g.apply(Op::Dft, {x, g.dims({given ? length : 0}, true), g.dims({1}, true)},
                 {{"shape", std::vector<Dim>{x.shape()[0], out, half ? 1 : 2}},
                  {"inverse", inverse},
                  {"onesided", onesided}});
}

Value framed(GraphWriter& w) {
  Graph& g = w.g();
  const Dim batch = w.any_extent(), time = w.any_extent();
  const Value x = w.input(w.chance(70) ? DType::F32 : DType::I32, {batch, time, w.number(1, 2)});
  const int64_t step = w.number(1, 3);
  if (w.chance(50)) {
    const Dim length = ceildiv(time, 2), count = floordiv(time - length, step) + 1;
    return g.apply(Op::Frames, {x, g.dims({step}, true), g.dims({length}, true)},
                   {{"shape", std::vector<Dim>{batch, count, length, x.shape()[2]}}});
  }
  const Value length = g.binary(Op::Min, run_time_integer(w, 1, 3), g.dims({time}, true));
  return g.apply(Op::Frames, {x, run_time_integer(w, step, step), length},
                 {{"shape", std::vector<Dim>{batch, w.fresh_symbol("frames"),
                                             w.fresh_symbol("length"), x.shape()[2]}}});
}

Value cosine_window(GraphWriter& w) {
  const Dim size = w.any_extent();
  return w.g().apply(Op::CosineWindow, {w.g().dims({size}, true)},
                     {{"shape", std::vector<Dim>{size}},
                      {"dtype", w.one_of(std::vector<DType>{DType::F32, DType::F64, DType::F16})},
                      {"coefficients", w.chance(50) ? std::vector<double>{0.5, 0.5}
                                                    : std::vector<double>{0.42, 0.5, 0.08}},
                      {"periodic", w.number(0, 1)}});
}

Value mel_weights(GraphWriter& w) {
  Graph& g = w.g();
  const int64_t bins = w.number(1, 8), length = w.one_of(Axes{16, 32, 64});
  const auto scalar = [&](int64_t value) { return g.dims({value}, true); };
  return g.apply(Op::MelWeights,
                 {scalar(bins), scalar(length), scalar(8192), g.scalar(DType::F32, 10),
                  g.scalar(DType::F32, static_cast<double>(w.number(500, 3500)))},
                 {{"shape", std::vector<Dim>{length / 2 + 1, bins}}, {"dtype", DType::F32}});
}

Value loss(GraphWriter& w) {
  const DType dtype = w.chance(80) ? DType::F32 : DType::F64;
  const int64_t classes = w.number(1, 6);
  std::vector<Dim> dims = w.any_extents(w.number(1, 2)), scores = dims;
  scores.insert(scores.begin() + 1, classes);
  graph::Attributes attributes;
  if (w.chance(50)) attributes.set("ignore", w.number(-1, classes - 1));
  const Value target = integers_between(w, std::move(dims), 0, classes - 1);
  return w.g().apply_all(Op::NllLoss,
                         {w.input(dtype, std::move(scores)), target, w.input(dtype, {classes})},
                         std::move(attributes))[w.chance(70) ? 0 : 1];
}

constexpr OpRow kRows[] = {
    {"recurrent", 2, recurrent},     {"dft", 1, fourier},
    {"frames", 1, framed},           {"cosine_window", 1, cosine_window},
    {"mel_weights", 1, mel_weights}, {"nll_loss", 1, loss},
};

}  // namespace

std::span<const OpRow> sequence_rows() { return kRows; }

}  // namespace tenon::differential
