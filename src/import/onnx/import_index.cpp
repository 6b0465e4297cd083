// Importers of gather, scatter, search and sort.
#include <algorithm>
#include <limits>

#include "import/onnx/ops/index.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx::importers {
namespace {

std::string reduction_of(Call& call) { return std::string(call.text("reduction", "none")); }

int64_t axis_attribute(Call& call, Value x, int64_t otherwise) {
  return Call::axis_of(call.integer("axis", otherwise), x.shape().rank());
}

Value flat(graph::Graph& g, Value x) {
  return x.shape().rank() == 1 ? x : g.reshape(x, {x.shape().elements()});
}

}  // namespace

Results gather_elements(Call& call) {
  Value data = call.in(0);
  return {call.g.apply(Op::GatherElements, {data, call.in(1)},
                       {{"axis", axis_attribute(call, data, 0)}})};
}

Results gather_nd(Call& call) {
  return {call.g.apply(Op::GatherND, {call.in(0), call.in(1)},
                       {{"batch_dims", call.integer("batch_dims", 0)}})};
}

Results scatter_elements(Call& call) {
  Value data = call.in(0);
  return {
      call.g.apply(Op::ScatterElements, {data, call.in(1), call.in(2)},
                   {{"axis", axis_attribute(call, data, 0)}, {"reduction", reduction_of(call)}})};
}

Results scatter_nd(Call& call) {
  return {call.g.apply(Op::ScatterND, {call.in(0), call.in(1), call.in(2)},
                       {{"reduction", reduction_of(call)}})};
}

// A piece of a cache is written where each row of the batch says, at its end over the start again
// (circular) or never beyond (linear).
Results tensor_scatter(Call& call) {
  graph::Graph& g = call.g;
  Value cache = call.in(0), update = call.in(1);
  const int rank = cache.shape().rank();
  const int64_t axis = axis_attribute(call, cache, -2);
  if (axis == 0 || update.shape().rank() != rank) {
    throw user_error("axis {} of {} for {}", axis, cache.type().to_string(),
                     update.type().to_string());
  }
  const std::string_view mode = call.text("mode", "linear");
  if (mode != "linear" && mode != "circular") throw user_error("a mode of '{}'", mode);
  Value at = along_axis(g, iota(g, update.shape()[static_cast<int>(axis)]), axis, rank);
  if (Value starts = call.maybe(2)) at = g.add(at, along_axis(g, starts, 0, rank));
  if (mode == "circular") {
    const Value most = g.dims({cache.shape()[static_cast<int>(axis)]}, true);
    at = g.sub(at, g.mul(g.div(at, most), most));
  }
  at = g.expand(at, update.shape().dims());
  return {g.apply(Op::ScatterElements, {cache, at, update},
                  {{"axis", axis}, {"reduction", std::string("none")}})};
}

Results compress(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0), condition = call.in(1);
  if (condition.shape().rank() != 1) {
    throw user_error("the condition must be a vector, not {}", condition.type().to_string());
  }
  if (!call.find("axis")) x = flat(g, x);
  const int64_t axis = axis_attribute(call, x, 0);
  return {g.gather(x, flat(g, non_zero(g, condition)), axis)};
}

Results positions_of_non_zero(Call& call) { return {non_zero(call.g, call.in(0))}; }

// Opset 10 made k an operand, 11 added `largest` and `sorted`.
Results top_k(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  const int64_t axis = axis_attribute(call, x, -1);
  const bool largest = call.flag("largest", true);
  call.flag("sorted", true);  // sorted is one of the orders that unsorted allows
  const Value k =
      call.opset() < 10 ? g.dims({call.integer("k")}, true) : to_scalar(g, call.in(1), "k");
  const Dim count = known_or_fresh(g, k, "topk", x.shape()[static_cast<int>(axis)]);
  return g.apply_all(
      Op::TopK, {x, k},
      {{"axis", axis}, {"largest", int64_t{largest}}, {"count", std::vector<Dim>{count}}});
}

Results unique(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0);
  if (!call.find("axis")) x = flat(g, x);
  const int64_t axis = axis_attribute(call, x, 0);
  const int64_t most = x.shape()[static_cast<int>(axis)].bounds().hi;
  const Dim count = g.fresh_symbol("unique", {0, most});
  return g.apply_all(Op::Unique, {x},
                     {{"axis", axis},
                      {"sorted", int64_t{call.flag("sorted", true)}},
                      {"count", std::vector<Dim>{count}}});
}

Results non_max_suppression(Call& call) {
  graph::Graph& g = call.g;
  const auto or_else = [&](int i, DType dtype, double value) {
    return call.maybe(i) ? to_scalar(g, call.in(i), "a limit") : g.scalar(dtype, value);
  };
  const Value most = or_else(2, DType::I64, 0), overlap = or_else(3, DType::F32, 0);
  const Value score = or_else(4, DType::F32, -std::numeric_limits<double>::infinity());
  const Dim count = g.fresh_symbol("boxes", {0, kDimInf});
  return {g.apply(Op::NonMaxSuppression, {call.in(0), call.in(1), most, overlap, score},
                  {{"center", int64_t{call.flag("center_point_box", false)}},
                   {"count", std::vector<Dim>{count}}})};
}

namespace {

// The pool as ONNX writes it: `starts` says where the grams of 1, 2, ... elements begin.
struct Grams {
  std::vector<int64_t> pool, lengths, places;

  Grams(const std::vector<int64_t>& all, const std::vector<int64_t>& starts,
        const std::vector<int64_t>& indexes, int64_t least, int64_t most) {
    size_t gram = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
      const auto length = static_cast<int64_t>(i) + 1, count = static_cast<int64_t>(all.size());
      const int64_t end = i + 1 < starts.size() ? starts[i + 1] : count;
      if (starts[i] < 0 || end < starts[i] || end > count || (end - starts[i]) % length != 0) {
        throw user_error("ngram_counts [{}] do not fit a pool of {}", fmt::join(starts, ", "),
                         count);
      }
      for (int64_t at = starts[i]; at < end; at += length, ++gram) {
        if (gram >= indexes.size()) throw user_error("there are more grams than ngram_indexes");
        if (length < least || length > most) continue;
        pool.insert(pool.end(), all.begin() + at, all.begin() + at + length);
        lengths.push_back(length);
        places.push_back(indexes[gram]);
      }
    }
  }
};

std::vector<int64_t> required(Call& call, std::string_view name) {
  auto list = call.integers(name);
  if (!list) throw unsupported_error("attribute '{}' is missing", name);
  return *std::move(list);
}

}  // namespace

Results tf_idf_vectorizer(Call& call) {
  graph::Graph& g = call.g;
  const std::vector<int64_t> indexes = required(call, "ngram_indexes");
  if (indexes.empty()) throw user_error("ngram_indexes is empty");
  Grams grams(required(call, "pool_int64s"), required(call, "ngram_counts"), indexes,
              call.integer("min_gram_length"), call.integer("max_gram_length"));
  const int64_t size = *std::ranges::max_element(indexes) + 1;
  Value counts = g.apply(Op::CountGrams, {call.in(0)},
                         {{"pool", std::move(grams.pool)},
                          {"lengths", std::move(grams.lengths)},
                          {"places", std::move(grams.places)},
                          {"skips", call.integer("max_skip_count")},
                          {"size", size}});
  const std::string_view mode = call.text("mode", "TF");
  const AttributeProto* weights = call.find("weights");
  if (mode == "TF") return {counts};
  if (mode != "IDF" && mode != "TFIDF") throw user_error("a mode of '{}'", mode);
  if (mode == "IDF") counts = g.binary(Op::Min, counts, g.scalar(DType::F32, 1));
  if (weights == nullptr || weights->floats.empty()) return {counts};
  const std::vector<float>& floats = weights->floats;
  if (static_cast<int64_t>(floats.size()) != size) {
    throw user_error("{} weights for {} results", floats.size(), size);
  }
  const auto bytes = std::as_bytes(std::span(floats));
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const Value scale =
      call.leaf({{{size}, DType::F32}, {*copy, copy}}, call.output_name(0) + ".weights");
  return {g.mul(counts, scale)};
}

}  // namespace tenon::onnx::importers
