// Importers of biases of the scores that relative positions give (domain com.microsoft): those of
// T5, in buckets, and those a gate of the query scales.
#include <algorithm>
#include <cmath>

#include "import/onnx/compute.h"
#include "import/onnx/heads.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx::importers {
namespace {

constexpr int64_t kMostDistance = 1 << 20;

// The bucket of each distance 0 .. most: one each for the near ones, then by logarithm.
std::vector<int32_t> buckets_by_distance(int64_t buckets, int64_t most) {
  const int64_t near = buckets / 2;
  std::vector<int32_t> table;
  for (int64_t distance = 0; distance <= most; ++distance) {
    int64_t bucket = distance;
    if (distance >= near) {
      const float part = std::log(static_cast<float>(distance) / static_cast<float>(near)) /
                         std::log(static_cast<float>(most) / static_cast<float>(near));
      bucket = near + static_cast<int64_t>(part * static_cast<float>(buckets - near));
    }
    table.push_back(static_cast<int32_t>(std::min(bucket, buckets - 1)));
  }
  return table;
}

}  // namespace

Results relative_position_bias(Call& call) {
  graph::Graph& g = call.g;
  Value biases = call.in(0);
  const bool both_ways = call.flag("is_bidirectional", false);
  const int64_t most = call.integer("max_distance");
  if (biases.shape().rank() != 2 || !biases.shape()[0].is_const()) {
    throw user_error("a table of biases {}", biases.type().to_string());
  }
  const int64_t all = biases.shape()[0].const_value(), buckets = both_ways ? all / 2 : all;
  if (buckets < 2 || buckets > kMostDistance || most <= buckets / 2 || most > kMostDistance) {
    throw user_error("{} buckets for a max_distance of {}", all, most);
  }
  auto table = std::make_shared<std::vector<int32_t>>(buckets_by_distance(buckets, most));
  LoadedTensor leaf{{{Dim(most + 1)}, DType::I32}, {std::as_bytes(std::span(*table)), table}};
  Value by_distance =
      call.shared_leaf(std::move(leaf), fmt::format("distance_buckets_{}_{}", buckets, most));
  Value query = positions(call, g.reshape(call.in(1), {1}));
  Value key = positions(call, g.reshape(call.in(2), {1}));
  const Dim queries = query.shape()[0], keys = key.shape()[0];
  Value ahead = g.sub(key, g.reshape(query, {queries, 1}));
  Value zero = g.scalar(DType::I32, 0);
  Value distance =
      both_ways ? g.unary(Op::Abs, ahead) : g.binary(Op::Max, g.unary(Op::Neg, ahead), zero);
  distance = g.binary(Op::Min, distance, g.scalar(DType::I32, static_cast<double>(most)));
  Value bucket = g.gather(by_distance, distance, 0);
  if (both_ways) {
    Value second = g.scalar(DType::I32, static_cast<double>(buckets));
    bucket = g.add(bucket, g.apply(Op::Where, {g.binary(Op::Less, zero, ahead), second, zero}));
  }
  Value bias = g.transpose(g.gather(biases, bucket, 0), {2, 0, 1});
  return {g.reshape(bias, {1, biases.shape()[1], queries, keys})};
}

// rel_pos * (u * (r * a - 1) + 2), where u and r are the sigmoids of sums over the two halves of a
// linear map of the query.
Results gated_relative_position_bias(Call& call) {
  graph::Graph& g = call.g;
  call.reject_input(6, "token_offset");
  Value weight = call.in(3);
  if (weight.shape().rank() != 2) throw user_error("weights {}", weight.type().to_string());
  Value query = split_heads(call, g.add(call.in(0), call.in(1)), call.integer("num_heads"));
  Value linear = g.add(g.matmul(query, weight), call.in(4));
  const Shape& s = linear.shape();
  Value halves = g.reshape(linear, {s[0], s[1], s[2], 2, quotient({s[3]}, {2})});
  Value gates = g.unary(Op::Sigmoid, g.reduce(Op::ReduceSum, halves, {4}));
  gates = g.reshape(gates, {s[0], s[1], s[2], 2});
  const std::vector<Value> parts = g.split(gates, 3, {1, 1});
  Value inner = g.sub(g.mul(parts[1], call.in(5)), number_like(call, gates, 1));
  Value gate = g.add(g.mul(parts[0], inner), number_like(call, gates, 2));
  return {g.mul(gate, call.in(2))};
}

}  // namespace tenon::onnx::importers
