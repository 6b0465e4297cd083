// The ops of images, sequences and signals, for the graph in which each op occurs.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

using Extent = std::vector<Dim>;
using Count = std::vector<int64_t>;

inline void add_window_ops(Graph& g, std::vector<Output>& outputs) {
  const Dim n = sym::batch(), h = Symbol("h");
  const Value x = g.input("image", {{n, 4, h, 6}, DType::F32});
  const Value w = g.param("kernels", {{4, 2, 3, 3}, DType::F32});
  const Value bias = g.param("kernel_bias", {{4}, DType::F32});
  const Attributes windows{{"extents", Extent{h, 6}},
                           {"begins", Extent{1, 1}},
                           {"strides", Count{1, 1}},
                           {"dilations", Count{1, 1}}};
  Attributes conv = windows, pool = windows;
  conv.set("groups", int64_t{2});
  pool.set("kernel", Count{3, 3});
  Attributes max_pool = pool, average = pool, lp = pool;
  max_pool.set("column_major", int64_t{0});
  average.set("ends", Extent{1, 1});
  lp.set("p", 2.0);
  const Value y = g.apply(Op::Conv, {x, w, bias}, conv);
  Attributes back = conv;
  outputs.push_back({"conv_transpose", g.apply(Op::ConvTranspose, {y, w, bias}, back)});
  const Value offsets = g.input("offsets", {{n, 18, h, 6}, DType::F32});
  const Value mask = g.input("tap_mask", {{n, 9, h, 6}, DType::F32});
  outputs.push_back({"deform_conv", g.apply(Op::DeformConv, {x, w, offsets, mask},
                                            {{"begins", Extent{1, 1}},
                                             {"strides", Count{1, 1}},
                                             {"dilations", Count{1, 1}},
                                             {"groups", int64_t{2}},
                                             {"offset_groups", int64_t{1}}})});
  const std::vector<Value> largest = g.apply_all(Op::MaxPool, {x}, max_pool);
  outputs.push_back({"average_pool", g.apply(Op::AveragePool, {x}, average)});
  outputs.push_back({"lp_pool", g.apply(Op::LpPool, {x}, lp)});
  outputs.push_back(
      {"max_unpool", g.apply(Op::MaxUnpool, {largest[0], largest[1]},
                             {{"inner", Extent{n, 4, h, 6}}, {"shape", Extent{n, 4, h, 7}}})});
  const Value columns = g.input("columns", {{n, 9, 4}, DType::F32});
  outputs.push_back(
      {"col2im", g.apply(Op::Col2Im, {columns, g.integers({4, 4}), g.integers({3, 3})},
                         {{"shape", Extent{n, 1, 4, 4}},
                          {"pads", Count{0, 0, 0, 0}},
                          {"strides", Count{1, 1}},
                          {"dilations", Count{1, 1}}})});
}

inline void add_sampling_ops(Graph& g, std::vector<Output>& outputs) {
  const Dim n = sym::batch(), regions = Symbol("regions");
  const Value x = g.input("picture", {{n, 3, 8, 8}, DType::F32});
  const Value rois = g.input("rois", {{regions, 4}, DType::F32});
  const Value numbered = g.input("numbered_rois", {{regions, 5}, DType::F32});
  const Value owners = g.input("owners", {{regions}, DType::I64});
  outputs.push_back({"roi_pool", g.apply(Op::RoiPool, {x, numbered},
                                         {{"extents", Count{2, 2}}, {"scale", 0.5}})});
  outputs.push_back({"roi_align", g.apply(Op::RoiAlign, {x, rois, owners},
                                          {{"extents", Count{2, 2}},
                                           {"scale", 1.0},
                                           {"samples", int64_t{0}},
                                           {"mode", "avg"},
                                           {"half_pixel", int64_t{1}}})});
  const Value theta = g.input("theta", {{n, 2, 3}, DType::F32});
  const Value grid = g.apply(Op::AffineGrid, {theta, g.dims({n, 3, 5, 7})},
                             {{"shape", Extent{n, 5, 7, 2}}, {"align_corners", int64_t{0}}});
  outputs.push_back(
      {"grid_sample",
       g.apply(Op::GridSample, {x, grid},
               {{"mode", "linear"}, {"padding", "border"}, {"align_corners", int64_t{0}}})});
  const Symbol size = g.fresh_symbol("resize", {0, kDimInf});
  const Value scales = g.input("scales", {{1}, DType::F32});
  outputs.push_back({"resize", g.apply(Op::Resize, {x, scales},
                                       {{"shape", Extent{n, 3, 8, size}},
                                        {"order", Count{3}},
                                        {"mode", "cubic"},
                                        {"coordinates", "half_pixel"},
                                        {"rounding", "floor"},
                                        {"policy", "stretch"},
                                        {"cubic", -0.75},
                                        {"outside", 0.0},
                                        {"exclude_outside", int64_t{0}},
                                        {"antialias", int64_t{1}}})});
}

inline void add_sequence_ops(Graph& g, std::vector<Output>& outputs) {
  const Dim n = sym::batch(), time = Symbol("time");
  const auto param = [&](const char* name, Shape shape) {
    return g.param(name, {std::move(shape), DType::F32});
  };
  const Value x = g.input("steps", {{time, n, 3}, DType::F32});
  const Value lengths = g.input("lengths", {{n}, DType::I64});
  const Value state = g.input("hidden_state", {{1, n, 5}, DType::F32});
  outputs.push_back(
      {"recurrent",
       g.apply_all(Op::Recurrent,
                   {x, param("w_gates", {1, 20, 3}), param("r_gates", {1, 20, 5}),
                    param("b_gates", {1, 40}), lengths, state, state, param("peepholes", {1, 15})},
                   {{"cell", "lstm"},
                    {"direction", "forward"},
                    {"activations", "sigmoid,tanh,tanh"},
                    {"alpha", std::vector<double>{0, 0, 0}},
                    {"beta", std::vector<double>{0, 0, 0}}})[2]});
  const Value signal = g.input("signal", {{n, 16, 1}, DType::F32});
  const Value frames = g.apply(Op::Frames, {signal, g.integers({4}), g.integers({8})},
                               {{"shape", Extent{n, 3, 8, 1}}});
  outputs.push_back({"dft", g.apply(Op::Dft, {frames, g.integers({0}), g.integers({2})},
                                    {{"shape", Extent{n, 3, 5, 2}},
                                     {"inverse", int64_t{0}},
                                     {"onesided", int64_t{1}}})});
  outputs.push_back({"window", g.apply(Op::CosineWindow, {g.integers({8})},
                                       {{"shape", Extent{8}},
                                        {"dtype", DType::F32},
                                        {"coefficients", std::vector<double>{0.5, 0.5}},
                                        {"periodic", int64_t{1}}})});
  const Value low = g.scalar(DType::F32, 0), high = g.scalar(DType::F32, 4000);
  outputs.push_back(
      {"mel",
       g.apply(Op::MelWeights, {g.integers({4}), g.integers({16}), g.integers({8192}), low, high},
               {{"shape", Extent{9, 4}}, {"dtype", DType::F32}})});
  const Value scores = g.input("log_scores", {{n, 3}, DType::F32});
  const Value weights = param("class_weights", {3});
  outputs.push_back(
      {"nll", g.apply_all(Op::NllLoss, {scores, lengths, weights}, {{"ignore", int64_t{-1}}})[0]});
}

inline void add_spatial_ops(Graph& g, std::vector<Output>& outputs) {
  add_window_ops(g, outputs);
  add_sampling_ops(g, outputs);
  add_sequence_ops(g, outputs);
}

}  // namespace tenon::graph
