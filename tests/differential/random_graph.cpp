// See random_graph.h.
#include "tests/differential/random_graph.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::differential {

using graph::Op;
using graph::Tensor;
using graph::Value;

namespace {

constexpr int64_t kMostElements = 4096;
constexpr double kMostMagnitude = 1e4;
constexpr const char* kSymbols[] = {"b", "s", "t"};

bool may_be_empty(std::string_view name) { return name == "t"; }
Symbol symbol_of(const char* name) { return Symbol(name, {may_be_empty(name) ? 0 : 1, 64}); }

// Results whose bits every device computes alike: integers, and floats that are moved or chosen.
bool keeps_bits(const graph::Node& node) {
  const Op op = node.op();
  if (has(op, graph::kLeaf) || has(op, graph::kMovement) || has(op, graph::kCompare)) return true;
  constexpr Op kExact[] = {Op::Neg,    Op::Abs,       Op::Relu,           Op::Min,
                           Op::Max,    Op::Where,     Op::Cast,           Op::Sign,
                           Op::Floor,  Op::Ceil,      Op::Round,          Op::ReduceMax,
                           Op::Gather, Op::ReduceMin, Op::GatherElements, Op::GatherND,
                           Op::TopK,   Op::ArgMax,    Op::ArgMin};
  if (std::ranges::count(kExact, op) > 0) return true;
  return std::ranges::none_of(node.types(), [](const TensorType& t) { return is_float(t.dtype); });
}

}  // namespace

GraphWriter::GraphWriter(uint64_t seed, Supported supported)
    : random_(seed), supported_(std::move(supported)) {
  case_.seed = seed;
  for (const char* name : kSymbols) {  // each is an axis of an input
    const bool empty = may_be_empty(name) && chance(10);
    case_.extents[name] = empty ? 0 : one_of(std::vector<int64_t>{1, 2, 3, 5, 7, 16});
    input(DType::F32, {symbol_of(name)});
  }
}

int64_t GraphWriter::number(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
}

DType GraphWriter::any_dtype() {
  constexpr std::pair<DType, int> kShares[] = {
      {DType::F32, 50}, {DType::I64, 12}, {DType::I32, 8}, {DType::F64, 8}, {DType::F16, 5},
      {DType::BF16, 5}, {DType::Bool, 4}, {DType::I8, 3},  {DType::U8, 3},  {DType::I16, 1},
      {DType::U16, 1},  {DType::U32, 1},  {DType::U64, 1}};
  int64_t at = number(0, 101);
  for (const auto& [dtype, share] : kShares) {
    if ((at -= share) < 0) return dtype;
  }
  return DType::F32;
}

Dim GraphWriter::any_extent() {
  if (chance(40)) return one_of(std::vector<Dim>{1, 2, 3, 4, 5, 8, 17});
  return symbol_of(kSymbols[number(0, 2)]);
}

Value GraphWriter::input(DType dtype, std::vector<Dim> dims) {
  const std::string name = "x" + std::to_string(g().inputs().size());
  const Value value = g().input(name, {Shape(std::move(dims)), dtype});
  Tensor& tensor = tensors_[value];
  replay::Case one{graph::Graph(g().context()), case_.extents, case_.seed};
  one.graph.input(name, value.type());
  tensor = replay::inputs_of(one).at(name);
  exact_[value.node] = true;
  return value;
}

Value GraphWriter::any(const std::function<bool(DType)>& wanted, bool exact) {
  std::vector<Value> fitting;
  for (const Value& value : values_) {
    if (wanted(value.dtype()) && (!exact || is_exact(value))) fitting.push_back(value);
  }
  if (!fitting.empty() && !chance(15)) {  // the last ones first: graphs grow deep
    const auto count = static_cast<int64_t>(fitting.size());
    return fitting[static_cast<size_t>(count - 1 - number(0, number(0, count - 1)))];
  }
  DType dtype = any_dtype();
  for (int i = 0; i < 50 && !wanted(dtype); ++i) dtype = any_dtype();
  if (!wanted(dtype)) return {};
  std::vector<Dim> dims(static_cast<size_t>(chance(80) ? number(1, 3) : number(0, 6)));
  for (Dim& dim : dims) dim = any_extent();
  return input(dtype, std::move(dims));
}

Value GraphWriter::beside(Value x, bool exact) {
  std::vector<Value> fitting;
  for (const Value& value : values_) {
    const bool same = value.dtype() == x.dtype() && value.shape() == x.shape();
    if (same && (!exact || is_exact(value))) fitting.push_back(value);
  }
  if (!fitting.empty() && chance(60)) return one_of(fitting);
  if (chance(15)) return g().scalar(x.dtype(), static_cast<double>(number(1, 3)));
  std::vector<Dim> dims = x.shape().dims();
  for (Dim& dim : dims) {
    if (chance(20)) dim = 1;
  }
  dims.erase(dims.begin(), dims.begin() + number(0, chance(30) ? std::ssize(dims) : 0));
  return input(x.dtype(), std::move(dims));
}

const Tensor& GraphWriter::tensor(Value value) {
  if (const auto found = tensors_.find(value); found != tensors_.end()) return found->second;
  std::vector<const Tensor*> operands;
  for (const Value& operand : value.node->operands()) tensor(operand);
  for (const Value& operand : value.node->operands()) operands.push_back(&tensors_.at(operand));
  const SymbolValues values = [&](const Symbol& symbol) -> std::optional<int64_t> {
    const auto found = case_.extents.find(symbol.name());
    return found == case_.extents.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<Tensor> results = graph::evaluate(*value.node, operands, values);
  for (int i = 0; i < value.node->result_count(); ++i) {
    tensors_[{value.node, i}] = std::move(results[static_cast<size_t>(i)]);
  }
  return tensors_.at(value);
}

bool GraphWriter::is_exact(Value value) {
  if (const auto found = exact_.find(value.node); found != exact_.end()) return found->second;
  bool exact = keeps_bits(*value.node);
  for (const Value& operand : value.node->operands()) exact = is_exact(operand) && exact;
  return exact_[value.node] = exact;
}

bool GraphWriter::is_tame(Value value) {
  const Tensor& result = tensor(value);
  if (result.elements() > kMostElements || value.shape().rank() > 6) return false;
  if (!is_float(result.dtype)) return true;
  return std::ranges::all_of(graph::to_doubles(result), [](double x) {
    return std::isfinite(x) && std::abs(x) < kMostMagnitude;
  });
}

void GraphWriter::keep(Value value) {
  if (std::ranges::find(values_, value) == values_.end()) values_.push_back(value);
}

replay::Case GraphWriter::write(int ops) {
  int total = 0;
  for (const OpRow& row : op_rows()) total += row.weight;
  for (int tries = 0; std::ssize(values_) < ops && tries < ops * 10; ++tries) {
    int64_t at = number(0, total - 1);
    const OpRow* row = op_rows().data();
    while ((at -= row->weight) >= 0) ++row;
    const graph::Graph before = g();
    Value value;
    try {
      value = row->write(*this);
      const bool fits = value && !has(value.op(), graph::kLeaf) && is_tame(value);
      if (!fits) value = {};
      if (value) {
        graph::Graph alone = g();
        alone.set_outputs({{"y", value}});
        if (!supported_(alone)) value = {};
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Internal) throw;
      value = {};
    }
    if (value) {
      keep(value);
    } else {
      discarded_.push_back(std::exchange(case_.graph, before));  // with its constraints
    }
  }
  std::unordered_set<Value> used;
  for (const Value& value : values_) {
    std::vector<Value> pending{value};
    while (!pending.empty()) {
      const Value next = pending.back();
      pending.pop_back();
      for (const Value& operand : next.node->operands()) {
        if (used.insert(operand).second) pending.push_back(operand);
      }
    }
  }
  std::vector<graph::Output> outputs;
  for (const Value& value : values_) {
    if (used.contains(value) && !chance(5)) continue;
    outputs.push_back({"y" + std::to_string(outputs.size()), value});
  }
  if (outputs.empty()) {
    outputs.push_back({"y0", g().unary(Op::Neg, input(DType::F32, {any_extent()}))});
  }
  g().set_outputs(std::move(outputs));
  return case_;
}

replay::Case GraphWriter::again(const replay::Case& given) {
  replay::Case result = given;
  result.seed += 1000003;
  for (auto& [name, extent] : result.extents) {
    extent = one_of(std::vector<int64_t>{1, 2, 4, 9, 17, 33});
  }
  return result;
}

}  // namespace tenon::differential
