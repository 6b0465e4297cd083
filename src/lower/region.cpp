// The plumbing of a region: arguments, locals, loops and the lets between them.
#include "lower/region.h"

#include <algorithm>

#include "base/error.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

// Elements above which a local row lives in scratch memory instead of on the stack.
constexpr int64_t kStackElements = 8192;

// Lets may be moved where they read nothing that the kernel itself writes.
bool is_movable(const Let& let, const std::vector<Buffer>& buffers) {
  bool result = true;
  for_each(let.value, [&](const Expr& e) {
    if (e.buffer < 0) return;
    const Buffer& buffer = buffers[static_cast<size_t>(e.buffer)];
    result = result && buffer.storage == Storage::Global && !buffer.written;
  });
  return result;
}

bool uses(const Let& let, const Symbol& symbol) {
  if (kernel::uses(let.value, symbol) || let.extent.uses(symbol)) return true;
  return std::ranges::any_of(let.guards, [&](const Guard& guard) {
    return guard.index.uses(symbol) || guard.bound.uses(symbol);
  });
}

// The number of a constant of one element, where an f64 holds it.
std::optional<double> scalar_constant(Value value) {
  const bool single = value.op() == graph::Op::Constant && value.shape().elements().is_const(1);
  if (!single || is_storage_only(value.dtype())) return std::nullopt;
  const auto* element = value.node->bytes().data();
  const double number = load_as_f64(value.dtype(), element);
  const bool integer = is_integer(value.dtype());
  constexpr double kExact = 0x1p53;  // itself it is what the next integer is rounded to
  if (integer && !(-kExact < number && number < kExact)) return std::nullopt;
  return number;
}

}  // namespace

Block append(Block a, Block b) {
  for (Stmt& s : b) a.push_back(std::move(s));
  return a;
}

Dim dot(const Index& index, const std::vector<Dim>& strides) {
  Dim sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum = sum + index[i] * strides[i];
  return sum;
}

std::vector<Dim> leading(const Shape& shape, int axes) {
  return {shape.dims().begin(), shape.dims().begin() + axes};
}

Index with(Index index, const Dim& last) {
  index.push_back(last);
  return index;
}

std::vector<Dim> without(std::vector<Dim> dims, int axis) {
  dims.erase(dims.begin() + axis);
  return dims;
}

Index inserted(Index index, int axis, const Dim& at) {
  index.insert(index.begin() + axis, at);
  return index;
}

ExprRef guarded(const ExprRef& root, const Guard& guard) {
  return transform(root, [&](Expr& copy) -> ExprRef {
    if (copy.op == Op::Load) copy.guards.push_back(guard);
    return nullptr;
  });
}

Index broadcast_index(const Shape& shape, const Index& index, const Shape& onto) {
  Index result(static_cast<size_t>(shape.rank()));
  const size_t skip = index.size() - result.size();
  auto inside = [&](size_t axis, const Dim& extent) {
    return (onto.rank() > 0 && onto[static_cast<int>(skip + axis)] == extent) ||
           prove_lt(index[skip + axis], extent) == Proof::Yes;
  };
  for (size_t i = 0; i < result.size(); ++i) {
    const Dim& extent = shape[static_cast<int>(i)];
    if (extent.is_const(1)) continue;
    // Where only the run knows whether the extent is 1, the clamp decides: index 0 then, the index
    // itself otherwise.
    const Dim& at = index[skip + i];
    result[i] = inside(i, extent) ? at : min(at, extent - 1);
  }
  return result;
}

Region::Region(Value result, const fuse::Regions& regions, const Layout& layout,
               const TakenNames& taken)
    : result_(result),
      root_(fuse::narrowed(result, regions).value_or(result)),
      regions_(regions),
      layout_(layout),
      taken_(taken) {}

int Region::argument(Value value) {
  const auto [it, fresh] = buffers_.try_emplace({value.node, value.result}, 0);
  if (fresh) {
    const bool leaf = value.op() == graph::Op::Param || value.op() == graph::Op::Constant;
    const std::vector<Dim> strides = layout_(value);
    Dim elements = value.shape().rank() == 0 ? Dim(1) : value.shape()[0] * strides[0];
    it->second = kernel_.add_buffer({.name = "b" + std::to_string(kernel_.buffers.size()),
                                     .dtype = value.dtype(),
                                     .elements = elements,
                                     .source_index = static_cast<int>(arguments_.size()),
                                     .constant = leaf || regions_.prologue.contains(value)});
    arguments_.push_back(value);
  }
  return it->second;
}

ExprRef Region::load_stored(Value value, const Index& index) {
  if (const auto number = scalar_constant(value)) {
    return constant(computed_in(value.dtype()), *number);
  }
  return cast(load(argument(value), value.dtype(), dot(index, layout_(value)), guards_),
              computed_in(value.dtype()));
}

ExprRef Region::load_result(const Index& index) {
  return cast(load(argument(result_), result_.dtype(), dot(index, layout_(result_)), guards_),
              computed_in(result_.dtype()));
}

Stmt Region::store_value(Value stored, const Index& index, ExprRef value) {
  const int buffer = argument(stored);
  kernel_.buffers[static_cast<size_t>(buffer)].written = true;
  return store(buffer, dot(index, layout_(stored)), cast(std::move(value), stored.dtype()));
}

int Region::local_scalar(const std::string& name, DType dtype) {
  return kernel_.add_buffer({.name = name, .dtype = dtype, .storage = Storage::Register});
}

int Region::local_row(const std::string& name, DType dtype, const Dim& elements) {
  const bool small = elements.is_const() && elements.const_value() <= kStackElements;
  const Storage storage = small ? Storage::Stack : Storage::Scratch;
  return kernel_.add_buffer(
      {.name = name, .dtype = dtype, .elements = elements, .storage = storage});
}

Symbol Region::range(std::string name, const Dim& extent) const {
  while (taken_.contains(name)) name += '_';
  return Symbol::range(std::move(name), extent);
}

Symbol Region::fresh(const std::string& stem, const Dim& extent) {
  return range(stem + std::to_string(names_++), extent);
}

Block Region::loops(const std::vector<Dim>& extents, const BodyOf& body, LoopKind kind) {
  Index index;
  std::vector<Symbol> symbols;
  for (const Dim& extent : extents) {
    symbols.push_back(fresh("i", extent));
    index.push_back(extent.is_const(1) ? Dim(0) : Dim(symbols.back()));
  }
  // What is looked up inside is not known outside.
  Block outside = take_lets();
  const auto names = let_names_;
  Block block = body(index);
  block = append(take_lets(), std::move(block));
  lets_ = std::move(outside);
  let_names_ = names;
  for (size_t i = extents.size(); i-- > 0;) {
    if (!extents[i].is_const(1)) block = around(kind, symbols[i], extents[i], std::move(block));
  }
  return block;
}

Block Region::result_loops(const BodyOf& body) {
  std::vector<Dim> extents = result_.shape().dims();
  if (!is_channels_last(result_)) return loops(extents, body);
  std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
  return loops(extents, [&](Index index) {
    std::rotate(index.begin() + 1, index.end() - 1, index.end());
    return body(index);
  });
}

// The loop, after the lets at the front of its body that do not depend on it.
Block Region::around(LoopKind kind, const Symbol& symbol, const Dim& extent, Block body) const {
  Block result, inside;
  std::vector<Symbol> moving = {symbol};
  size_t at = 0;
  for (; at < body.size() && body[at].as<Let>(); ++at) {
    const Let& let = *body[at].as<Let>();
    const bool moves = !is_movable(let, kernel_.buffers) ||
                       std::ranges::any_of(moving, [&](const Symbol& s) { return uses(let, s); });
    if (moves) moving.push_back(let.symbol);
    (moves ? inside : result).push_back(body[at]);
  }
  inside.insert(inside.end(), body.begin() + static_cast<std::ptrdiff_t>(at), body.end());
  result.push_back(loop(kind, symbol, extent, std::move(inside)));
  return result;
}

Block Region::take_lets() {
  Block result = std::move(lets_);
  lets_.clear();
  return result;
}

ExprRef Region::at(Value value, const Index& index) {
  if (known_.second && value == known_.first) return known_.second;
  if (value != root_ && regions_.stored.contains(value)) return load_stored(value, index);
  return compute(value, index);
}

void Region::reads_part(Value data, const graph::Node& node) {
  if (regions_.stored.contains(data)) partly_read_by_[{data.node, data.result}].insert(&node);
}

Dim Region::least_bytes() const {
  Dim bytes = 0;
  for (const Value& value : arguments_) {
    const bool updates = value == result_ && value.op() == graph::Op::Update;  // new rows only
    const TensorType& type = (updates ? value.node->operand(1) : value).type();
    const auto readers = partly_read_by_.find({value.node, value.result});
    if (readers == partly_read_by_.end()) {
      bytes = bytes + type.bytes();
      continue;
    }
    Dim elements = 0;
    for (const Node* node : readers->second)
      elements = elements + node->types()[0].shape.elements();
    bytes = bytes + min(elements, type.shape.elements()) * size_of(type.dtype);
  }
  return bytes;
}

Lowered Region::finish(std::string name, Block body) {
  kernel_.name = std::move(name);
  kernel_.body = std::move(body);
  kernel_.bytes = least_bytes();
  kernel_.dims = free_symbols(kernel_);  // of costs too
  // The result goes last, so that callers know where it is.
  const auto it = std::find(arguments_.begin(), arguments_.end(), result_);
  TENON_CHECK(it != arguments_.end(), "kernel {} stores nothing", kernel_.name);
  const auto from = static_cast<int>(it - arguments_.begin());
  const auto last = static_cast<int>(arguments_.size()) - 1;
  arguments_.erase(it);
  arguments_.push_back(result_);
  for (Buffer& buffer : kernel_.buffers) {
    if (buffer.storage != Storage::Global) continue;
    buffer.source_index = buffer.source_index == from
                              ? last
                              : buffer.source_index - (buffer.source_index > from ? 1 : 0);
  }
  return {std::move(kernel_), std::move(arguments_)};
}

}  // namespace tenon::lower
