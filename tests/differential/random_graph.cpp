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
constexpr int64_t kMostElementsAgain = 1 << 16;
constexpr double kMostMagnitude = 1e4;
constexpr Bounds kBounds = {1, 200};
constexpr const char* kSymbols[] = {"b", "s", "t"};

// How often inputs and casts have each dtype.
struct Share {
  DType dtype;
  int share;
};
constexpr Share kShares[] = {
    {DType::F32, 50},   {DType::I64, 12},       {DType::I32, 8},        {DType::F64, 8},
    {DType::F16, 4},    {DType::BF16, 4},       {DType::Bool, 4},       {DType::I8, 3},
    {DType::U8, 3},     {DType::I16, 2},        {DType::U16, 2},        {DType::U32, 2},
    {DType::U64, 2},    {DType::F8E4M3FN, 1},   {DType::F8E4M3FNUZ, 1}, {DType::F8E5M2, 1},
    {DType::F4E2M1, 1}, {DType::F8E5M2FNUZ, 1}, {DType::F8E8M0, 1},     {DType::U4, 1},
    {DType::I4, 1},     {DType::U2, 1},         {DType::I2, 1}};

bool may_be_empty(std::string_view name) { return name == "t"; }
Symbol symbol_of(const char* name) {
  return Symbol(name, {may_be_empty(name) ? 0 : kBounds.lo, kBounds.hi});
}

// Computed in f32, rounded where it is stored: with extremes, nobody knows which comes first.
bool is_short_float(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

}  // namespace

GraphWriter::GraphWriter(uint64_t seed) : random_(seed) {
  case_.seed = seed;
  case_.special = chance(20);
  for (const char* name : kSymbols) {  // each is an axis of an input
    const bool empty = may_be_empty(name) && chance(10);
    case_.extents[name] = empty ? 0 : one_of(std::vector<int64_t>{1, 2, 3, 5, 7, 16});
  }
  symbols_ = case_.extents;
  for (const char* name : kSymbols) input(DType::F32, {symbol_of(name)});
}

int64_t GraphWriter::number(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
}

DType GraphWriter::any_dtype() {
  constexpr int kTotal = [] {
    int total = 0;
    for (const Share& row : kShares) total += row.share;
    return total;
  }();
  int64_t at = number(0, kTotal - 1);
  const Share* row = kShares;
  while ((at -= row->share) >= 0) ++row;
  return row->dtype;
}

Dim GraphWriter::any_extent() {
  if (chance(40)) return one_of(std::vector<Dim>{1, 2, 3, 4, 5, 8, 17});
  return symbol_of(kSymbols[number(0, 2)]);
}

std::vector<Dim> GraphWriter::any_extents(int64_t count) {
  std::vector<Dim> dims(static_cast<size_t>(count));
  for (Dim& dim : dims) dim = any_extent();
  return dims;
}

Dim GraphWriter::wide_extent() {
  return one_of(std::vector<Dim>{16, 16, 32, 32, 33, 48, 64, 130, 200});
}

Symbol GraphWriter::fresh_symbol(const std::string& stem) {
  return g().fresh_symbol(stem, {0, kDimInf});
}

bool GraphWriter::is_given(const Dim& extent) const {
  return std::ranges::all_of(extent.symbols(), [&](const Symbol& symbol) {
    return case_.extents.contains(symbol.name());
  });
}

Value GraphWriter::named(Value leaf) {
  replay::Case one{graph::Graph(g().context()), symbols_, case_.seed, case_.special};
  one.graph.input(leaf.node->name(), leaf.type());
  tensors_[leaf] = replay::inputs_of(one).at(leaf.node->name());
  return leaf;
}

Value GraphWriter::input(DType dtype, std::vector<Dim> dims) {
  if (!std::ranges::all_of(dims, [&](const Dim& dim) { return is_given(dim); })) {
    throw user_error("no input has an extent that a step finds");
  }
  const std::string name = "x" + std::to_string(g().inputs().size());
  return named(g().input(name, {Shape(std::move(dims)), dtype}));
}

Value GraphWriter::weight(DType dtype, std::vector<Dim> dims) {
  const bool constant = std::ranges::all_of(dims, [](const Dim& dim) { return dim.is_const(); });
  if (!constant || chance(30)) return input(dtype, std::move(dims));
  const std::string name = "w" + std::to_string(g().params().size());
  return named(g().param(name, {Shape(std::move(dims)), dtype}));
}

Value GraphWriter::any(const std::function<bool(DType)>& wanted, bool exact) {
  std::vector<Value> fitting;
  for (const Value& value : values_) {
    if (!wanted(value.dtype()) || (exact && !is_exact(value))) continue;
    if (!exact && special() && is_short_float(value.dtype())) continue;
    fitting.push_back(value);
  }
  if (!fitting.empty() && !chance(15)) {  // the last ones first: graphs grow deep
    const auto count = static_cast<int64_t>(fitting.size());
    return fitting[static_cast<size_t>(count - 1 - number(0, number(0, count - 1)))];
  }
  DType dtype = any_dtype();
  for (int i = 0; i < 50 && (!wanted(dtype) || (special() && is_short_float(dtype))); ++i) {
    dtype = any_dtype();
  }
  if (!wanted(dtype)) return {};
  return input(dtype, any_extents(chance(80) ? number(1, 3) : number(0, 6)));
}

Value GraphWriter::any_of_rank(int rank, const std::function<bool(DType)>& wanted, bool exact) {
  const Value x = any(wanted, exact);
  if (!x || x.shape().rank() == rank) return x;
  if (x.shape().rank() > rank || chance(40)) return input(x.dtype(), any_extents(rank));
  std::vector<Dim> dims = x.shape().dims();
  while (std::ssize(dims) < rank) dims.insert(dims.begin() + number(0, std::ssize(dims)), 1);
  return g().reshape(x, std::move(dims));
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
    if (!is_given(dim) || chance(20)) dim = 1;
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
    const auto found = symbols_.find(symbol.name());
    return found == symbols_.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<Tensor> results = graph::evaluate(*value.node, operands, values);
  note_symbols(*value.node, results);
  for (int i = 0; i < value.node->result_count(); ++i) {
    tensors_[{value.node, i}] = std::move(results[static_cast<size_t>(i)]);
  }
  return tensors_.at(value);
}

// An extent that is a symbol without a value is what the result has; a define gives its elements.
void GraphWriter::note_symbols(const graph::Node& node, const std::vector<Tensor>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = node.types()[i].shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (const auto symbol = shape[axis].as_symbol()) {
        symbols_.emplace(symbol->name(), results[i].shape[static_cast<size_t>(axis)]);
      }
    }
  }
  if (node.op() != Op::Define) return;
  const std::vector<int64_t> numbers = graph::to_integers(results[0]);
  for (size_t i = 0; i < numbers.size(); ++i) {
    symbols_.emplace(node.attributes().dims("symbols")[i].as_symbol()->name(), numbers[i]);
  }
}

bool GraphWriter::is_tame(Value value) {
  const Tensor& result = tensor(value);
  if (result.elements() > kMostElements || value.shape().rank() > 6) return false;
  if (special() || !is_float(result.dtype)) return true;
  return std::ranges::all_of(graph::to_doubles(result), [](double x) {
    return std::isfinite(x) && std::abs(x) < kMostMagnitude;
  });
}

bool GraphWriter::is_fitting(Value value) {
  if (!value || has(value.op(), graph::kLeaf)) return false;
  for (int i = 0; i < value.node->result_count(); ++i) {
    if (!is_tame({value.node, i})) return false;
  }
  return true;
}

void GraphWriter::keep(Value value) {
  if (std::ranges::find(values_, value) == values_.end()) values_.push_back(value);
}

bool GraphWriter::write_one() {
  const auto weight_of = [&](const OpRow& row) {
    return special() && !row.special ? 0 : row.weight;
  };
  int total = 0;
  for (const OpRow& row : op_rows()) total += weight_of(row);
  int64_t at = number(0, total - 1);
  const OpRow* row = op_rows().data();
  while ((at -= weight_of(*row)) >= 0) ++row;
  const graph::Graph before = g();
  try {
    const Value value = row->write(*this);
    if (is_fitting(value)) {
      keep(value);
      for (int i = 0; i < value.node->result_count(); ++i) {
        const Value other{value.node, i};  // places of rounded numbers are not to be asked for
        if (chance(40) && (is_float(other.dtype()) || is_exact(other))) keep(other);
      }
      return true;
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) throw;
  }
  discarded_.push_back(std::exchange(case_.graph, before));  // with its constraints
  return false;
}

replay::Case GraphWriter::write(int ops) {
  for (int tries = 0; std::ssize(values_) < ops && tries < ops * 10; ++tries) write_one();
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
    if (used.contains(value) && !chance(is_exact(value) ? 10 : 5)) continue;
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
  const auto is_possible = [&] {
    const SymbolValues values = [&](const Symbol& symbol) -> std::optional<int64_t> {
      if (const auto own = result.extents.find(symbol.name()); own != result.extents.end()) {
        return own->second;
      }
      const auto found = symbols_.find(symbol.name());  // as it was in the first run
      return found == symbols_.end() ? std::nullopt : std::optional(found->second);
    };
    return std::ranges::all_of(given.graph.topological(), [&](const graph::Node* node) {
      return std::ranges::all_of(node->types(), [&](const TensorType& type) {
        return std::ranges::all_of(
                   type.shape,
                   [&](const Dim& extent) { return extent.evaluate(values).value_or(0) >= 0; }) &&
               type.shape.elements().evaluate(values).value_or(0) <= kMostElementsAgain;
      });
    });
  };
  for (int tries = 0; tries < 10; ++tries) {
    for (auto& [name, extent] : result.extents) {
      extent = one_of(std::vector<int64_t>{1, 2, 4, 9, 17, 33});
    }
    if (chance(20)) result.extents["s"] = one_of(std::vector<int64_t>{64, 65, 130});
    if (is_possible()) return result;
  }
  result.extents = given.extents;
  return result;
}

}  // namespace tenon::differential
