// What the importers share about shapes: leaves, known elements of shape tensors, and division of
// symbolic products (what Reshape's -1 stands for).
#include <algorithm>
#include <numeric>

#include "import/onnx/call.h"

namespace tenon::onnx {

Value make_leaf(graph::Graph& g, LoadedTensor tensor, const std::string& name) {
  if (tensor.data.bytes.size() > kConstantBytes) {
    return g.param(name, std::move(tensor.type), std::move(tensor.data));
  }
  // A copy: small, aligned, and it keeps no mapped file alive.
  auto copy =
      std::make_shared<std::vector<std::byte>>(tensor.data.bytes.begin(), tensor.data.bytes.end());
  return g.constant(std::move(tensor.type), {*copy, copy});
}

std::optional<std::vector<Dim>> shape_value(Value value) {
  if (value.result == 0 && value.node->shape_value()) return value.node->shape_value();
  const Shape& shape = value.shape();
  if (shape.elements().is_const(0)) return std::vector<Dim>{};
  if (value.op() != Op::Constant || is_float(value.dtype()) || !shape.is_static()) return {};
  const int64_t count = shape.elements().const_value();
  if (count > static_cast<int64_t>(limits::kSymbolicElements)) return {};
  std::vector<Dim> elements;
  const std::byte* data = value.node->bytes().data();
  for (int64_t i = 0; i < count; ++i) {
    elements.emplace_back(load_as_i64(value.dtype(), data + i * size_of(value.dtype())));
  }
  return elements;
}

Value first_rows(graph::Graph& g, Value table, const Dim& rows) {
  const Shape& shape = table.shape();
  std::vector<Dim> extents = shape.dims();
  extents[0] = rows;
  return g.slice(table, std::vector<Dim>(extents.size(), 0), extents,
                 std::vector<int64_t>(extents.size(), 1));
}

namespace {

// Takes the size of the expression, counted as a tree, from `budget`; stops when that is spent.
void spend(const Dim& dim, int& budget) {
  for (const Dim::Term& term : dim.terms()) {
    --budget;
    for (const auto& atom : term.atoms) {
      if (--budget < 0) return;
      for (const Dim& arg : atom->args) spend(arg, budget);
    }
  }
}

void check_small(const Dim& dim) {
  int budget = limits::kDimSize;
  spend(dim, budget);
  if (budget < 0) throw unsupported_error("its extents are too complicated to follow");
}

}  // namespace

void check_extents_small(Value value) {
  try {
    (void)(value.shape().elements() * size_of(value.dtype()));
  } catch (const Error&) {
    throw user_error("its result {} has more bytes than can be counted", value.type().to_string());
  }
  for (const Dim& dim : value.shape()) check_small(dim);
  if (const auto& elements = value.shape_value()) {
    for (const Dim& dim : *elements) check_small(dim);
  }
}

namespace {

Dim dim_of(const Dim::Atom& atom) {
  if (atom.kind == AtomKind::Symbol) return Dim(*atom.symbol);
  if (atom.kind == AtomKind::FloorDiv) return floordiv(atom.args[0], atom.args[1]);
  Dim result = atom.args[0];
  for (const Dim& arg : atom.args) {
    result = atom.kind == AtomKind::Min ? min(result, arg) : max(result, arg);
  }
  return result;
}

// A product taken apart: a constant and the factors that are not constant.
struct Factors {
  Dim constant = 1;
  std::vector<Dim> symbolic;

  explicit Factors(const std::vector<Dim>& dims) {
    for (const Dim& dim : dims) add(dim);
  }
  void add(const Dim& dim) {
    if (dim.terms().size() > 1) {
      symbolic.push_back(dim);  // a sum: cancelled whole or not at all
      return;
    }
    if (dim.terms().empty()) constant = 0;
    for (const Dim::Term& term : dim.terms()) {
      constant = constant * term.coefficient;
      for (const auto& atom : term.atoms) symbolic.push_back(dim_of(*atom));
    }
  }
};

}  // namespace

Dim product(const std::vector<Dim>& factors) {
  Dim result = 1;
  for (const Dim& factor : factors) result = result * factor;
  return result;
}

Dim quotient(const std::vector<Dim>& numerator, const std::vector<Dim>& denominator) {
  Factors over(numerator), under(denominator);
  if (under.constant.is_const(0)) throw user_error("an extent cannot be derived: division by 0");
  std::vector<Dim> rest;
  for (const Dim& factor : under.symbolic) {
    auto found = std::find(over.symbolic.begin(), over.symbolic.end(), factor);
    if (found == over.symbolic.end()) {
      rest.push_back(factor);
    } else {
      over.symbolic.erase(found);
    }
  }
  const int64_t a = over.constant.const_value(), b = under.constant.const_value();
  const int64_t common = std::gcd(a, b);
  Dim top = product(over.symbolic) * (a / common), bottom = product(rest) * (b / common);
  if (bottom.is_const(1)) return top;
  if (top.is_const() && bottom.is_const()) {
    throw user_error("an extent cannot be derived: {} is not a multiple of {}",
                     product(numerator).to_string(), product(denominator).to_string());
  }
  return floordiv(top, bottom);
}

}  // namespace tenon::onnx
