// See precision.h. Each op is built again from operands of the dtype that its category wants, and
// what it gives is cast back; where two ops want the same, the casts between them vanish.
#include "legalize/precision.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/error.h"
#include "graph/fixed_nodes.h"
#include "legalize/dynamic_int8.h"

namespace tenon::legalize {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr auto kF32 = Numbers::F32, kF16 = Numbers::F16, kBf16 = Numbers::Bf16,
               kByBf16 = Numbers::ByBf16, kByInt8 = Numbers::ByInt8;
constexpr NumbersOfCategories kPolicies[] = {
    // weights, contraction, attention, norm, softmax, reduction, elementwise
    {kF32, kF32, kF32, kF32, kF32, kF32, kF32},         // AlwaysF32
    {kF16, kF16, kF16, kF16, kF16, kF16, kF16},         // AlwaysF16
    {kBf16, kBf16, kBf16, kBf16, kBf16, kBf16, kBf16},  // AlwaysBf16
    {kByBf16, kByBf16, kF32, kF32, kF32, kF32, kF32},   // AutoMixed
    {kByBf16, kF32, kF32, kF32, kF32, kF32, kF32},      // AutoMixedConservative
    {kByInt8, kF32, kF32, kF32, kF32, kF32, kF32},      // DynamicInt8
};

// `factors`: of a contraction, the operands that are multiplied: x, then weights.
struct CategoryRow {
  Op op;
  OpCategory category;
  size_t factors = 0;
};
constexpr CategoryRow kCategories[] = {
    {Op::MatMul, OpCategory::Contraction, 2},
    {Op::Linear, OpCategory::Contraction, 2},
    {Op::GatedLinear, OpCategory::Contraction, 3},
    {Op::Conv, OpCategory::Contraction, 2},
    {Op::MaxPool, OpCategory::Reduction},
    {Op::AveragePool, OpCategory::Reduction},
    {Op::Attention, OpCategory::Attention},
    {Op::LayerNorm, OpCategory::Norm},
    {Op::RmsNorm, OpCategory::Norm},
    {Op::Rotary, OpCategory::Elementwise},
    {Op::Softmax, OpCategory::Softmax},
};

const CategoryRow* row_of(Op op) {
  const auto* row = std::ranges::find(kCategories, op, &CategoryRow::op);
  return row == std::end(kCategories) ? nullptr : row;
}

// Which contractions have weights is not known from the op.
std::optional<OpCategory> category_of(Op op) {
  if (const CategoryRow* row = row_of(op)) return row->category;
  if (graph::has(op, graph::kReduction)) return OpCategory::Reduction;
  if (graph::has(op, graph::kElementwise) && op != Op::Cast) return OpCategory::Elementwise;
  return std::nullopt;
}

// The dtype of operands and results; of the factors of a contraction it may be
// another.
DType stored_as(Numbers numbers) {
  if (numbers == Numbers::F16) return DType::F16;
  return numbers == Numbers::Bf16 ? DType::BF16 : DType::F32;
}

class Rewriter {
 public:
  Rewriter(const Graph& graph, const NumbersOfCategories& numbers)
      : graph_(graph), numbers_(numbers) {
    const std::vector<const Node*> order = graph.topological();
    weights_ = graph::fixed_nodes(order);
    for (const Node* node : order) {
      if (counts(*node)) counts_.insert(node);
    }
  }

  Graph run() {
    return rebuild(graph_, [this](Graph& g, const Node& node, std::span<const Value> operands) {
      return rewritten(g, node, operands);
    });
  }

 private:
  // Between ops every value has the dtype that it is declared with; an op that wants it narrower
  // takes what it was before it was widened.
  std::vector<Value> rewritten(Graph& g, const Node& node, std::span<const Value> given) {
    if (graph::has(node.op(), graph::kLeaf) || node.op() == Op::Cast) return {};
    std::vector<Value> operands(given.begin(), given.end());
    if (follows_its_operand(node, given)) {
      for (Value& operand : operands) operand = narrow(operand);
      return rebuilt(g, node, operands);
    }
    const Numbers numbers = numbers_of(node);
    for (Value& operand : operands) {
      if (operand.dtype() == DType::F32) operand = as(g, operand, stored_as(numbers));
    }
    if (numbers == Numbers::ByInt8 && is_quantizable(node))
      return {contraction_by_int8(g, node, operands)};
    if (numbers == Numbers::ByF16 || numbers == Numbers::ByBf16) {
      const DType factor = numbers == Numbers::ByF16 ? DType::F16 : DType::BF16;
      for (size_t i = 0; i < row_of(node.op())->factors; ++i) {
        if (operands[i].dtype() == DType::F32)
          operands[i] = g.cast(as(g, operands[i], factor), DType::F32);
      }
    }
    return rebuilt(g, node, operands);
  }

  static std::vector<Value> rebuilt(Graph& g, const Node& node, std::span<const Value> operands) {
    std::vector<Value> results =
        g.apply_all(node.op(), {operands.begin(), operands.end()}, node.attributes());
    for (size_t i = 0; i < results.size(); ++i) {
      const DType declared = node.types()[i].dtype;
      if (results[i].dtype() != declared) results[i] = g.cast(results[i], declared);
    }
    return results;
  }

  // What a value was before it was widened to f32.
  static Value narrow(Value value) {
    const bool widened = value.op() == Op::Cast && value.dtype() == DType::F32;
    if (!widened) return value;
    const Value before = value.node->operand(0);
    return before.dtype() == DType::F16 || before.dtype() == DType::BF16 ? before : value;
  }

  // Elements that only move, or are looked up, from one place.
  static bool follows_its_operand(const Node& node, std::span<const Value> given) {
    if (node.op() == Op::Gather) return true;
    const auto like_the_first = [&](Value value) {
      return narrow(value).dtype() == narrow(given[0]).dtype();
    };
    return graph::has(node.op(), graph::kMovement) && std::ranges::all_of(given, like_the_first);
  }

  // Positions and counts: integers as floats, and what is computed of them up to a sine or cosine.
  // They have more digits than 16 bits hold.
  bool counts(const Node& node) const {
    if (node.op() == Op::Sin || node.op() == Op::Cos) return false;
    if (node.op() == Op::Cast) {
      const DType from = node.operand(0).dtype();
      return is_integer(from) || counts_.contains(node.operand(0).node);
    }
    const std::optional<OpCategory> category = category_of(node.op());
    const bool carries = category == OpCategory::Elementwise ||
                         category == OpCategory::Contraction ||
                         graph::has(node.op(), graph::kMovement);
    return carries && std::ranges::any_of(node.operands(), [&](Value operand) {
             return operand.dtype() == DType::F32 && counts_.contains(operand.node);
           });
  }

  Numbers numbers_of(const Node& node) const {
    const bool of_counts = std::ranges::any_of(
        node.operands(), [&](Value operand) { return counts_.contains(operand.node); });
    if (counts_.contains(&node) || of_counts) return Numbers::F32;
    std::optional<OpCategory> category = category_of(node.op());
    if (node.op() == Op::Concat) category = OpCategory::Elementwise;  // of parts that differ
    if (!category) return Numbers::F32;
    if (category == OpCategory::Contraction && weights_.contains(node.operand(1).node))
      category = OpCategory::Weights;
    return numbers_[static_cast<size_t>(*category)];
  }

  static Value as(Graph& g, Value value, DType dtype) {
    if (value.dtype() == dtype) return value;
    if (narrow(value).dtype() == dtype) return narrow(value);
    return value.op() == Op::Constant ? converted(g, value, dtype) : g.cast(value, dtype);
  }

  // Numbers that the dtype has no room for become its largest: what masks multiply with stays
  // finite.
  static Value converted(Graph& g, Value constant, DType dtype) {
    const auto from = static_cast<size_t>(size_of(constant.dtype()));
    const auto to = static_cast<size_t>(size_of(dtype));
    const std::span<const std::byte> source = constant.node->bytes();
    std::vector<std::byte> bytes(source.size() / from * to);
    const double most = dtype == DType::F16 ? 65504 : 0x1.fep127;
    for (size_t i = 0; i * from < source.size(); ++i) {
      double number = load_as_f64(constant.dtype(), &source[i * from]);
      if (dtype != DType::F32 && std::isfinite(number)) number = std::clamp(number, -most, most);
      store_from_f64(dtype, &bytes[i * to], number);
    }
    return g.constant({constant.shape(), dtype}, {bytes, nullptr});
  }

  const Graph& graph_;
  const NumbersOfCategories& numbers_;
  graph::FixedNodes weights_;
  std::unordered_set<const Node*> counts_;  // stay f32
};

void check(const NumbersOfCategories& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto category = static_cast<OpCategory>(i);
    const bool multiplies = category == OpCategory::Weights || category == OpCategory::Contraction;
    const bool needs_weight = numbers[i] == Numbers::ByInt8;
    if (numbers[i] >= Numbers::ByF16 &&
        (!multiplies || (needs_weight && category != OpCategory::Weights)))
      throw user_error("[precision] category {} cannot multiply that way", i);
  }
}

}  // namespace

std::optional<PrecisionPolicy> parse_precision_policy(std::string_view text) {
  for (size_t i = 0; i < std::size(kPrecisionPolicies); ++i) {
    if (kPrecisionPolicies[i] == text) return static_cast<PrecisionPolicy>(i);
  }
  return std::nullopt;
}

namespace {

// Numbers that the policy does not look at are a mistake, and so is a policy without them.
const NumbersOfCategories& numbers_of(const PrecisionOptions& options) {
  const bool given = options.custom != NumbersOfCategories();
  const auto policy = static_cast<size_t>(options.policy);
  if (options.policy != PrecisionPolicy::Custom) {
    if (given)
      throw user_error("[precision] numbers by category are for the policy custom, this is {}",
                       kPrecisionPolicies[policy]);
    return kPolicies[policy];
  }
  if (!given)
    throw user_error(
        "[precision] the policy custom needs numbers: PrecisionOptions::custom is f32 throughout");
  check(options.custom);
  return options.custom;
}

}  // namespace

bool stores_narrow(const PrecisionOptions& options) {
  return std::ranges::any_of(numbers_of(options),
                             [](Numbers numbers) { return stored_as(numbers) != DType::F32; });
}

Graph apply_precision(const Graph& graph, const PrecisionOptions& options) {
  const NumbersOfCategories& numbers = numbers_of(options);
  if (options.policy == PrecisionPolicy::AlwaysF32) return graph;
  return Rewriter(graph, numbers).run();
}

}  // namespace tenon::legalize
