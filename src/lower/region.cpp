// Index maps of movement ops and the plumbing of a region: arguments, locals, loops.
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

Dim dot(const Index& index, const std::vector<Dim>& strides) {
  Dim sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum = sum + index[i] * strides[i];
  return sum;
}

// The index into `shape` of the element at row-major position `linear`.
Index delinearize(const Dim& linear, const Shape& shape) {
  Index index(static_cast<size_t>(shape.rank()));
  Dim rest = linear;
  for (int axis = shape.rank(); axis-- > 0;) {
    const auto i = static_cast<size_t>(axis);
    if (axis == 0) {
      index[i] = rest;
    } else if (!shape[axis].is_const(1) && !shape[axis].is_const(0)) {  // 0: nothing is there
      index[i] = mod(rest, shape[axis]);
      rest = floordiv(rest, shape[axis]);
    }
  }
  return index;
}

// The number of a constant of one element, where an f64 holds it.
std::optional<double> scalar_constant(Value value) {
  const bool single = value.op() == graph::Op::Constant && value.shape().elements().is_const(1);
  if (!single || is_storage_only(value.dtype())) return std::nullopt;
  const auto* element = value.node->bytes().data();
  const double number = load_as_f64(value.dtype(), element);
  const bool integer = is_integer(value.dtype());
  constexpr double kExact = 0x1p53;
  if (integer && !(-kExact <= number && number <= kExact)) return std::nullopt;
  return number;
}

}  // namespace

Block append(Block a, Block b) {
  for (Stmt& s : b) a.push_back(std::move(s));
  return a;
}

std::vector<Dim> leading(const Shape& shape, int axes) {
  return {shape.dims().begin(), shape.dims().begin() + axes};
}

Index with(Index index, const Dim& last) {
  index.push_back(last);
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

Region::Region(Value root, const fuse::Regions& regions, const Layout& layout,
               const TakenNames& taken)
    : root_(root), regions_(regions), layout_(layout), taken_(taken) {}

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
  return cast(load(argument(value), value.dtype(), dot(index, layout_(value))),
              computed_in(value.dtype()));
}

Stmt Region::store_result(const Index& index, ExprRef value) {
  const int buffer = argument(root_);
  kernel_.buffers[static_cast<size_t>(buffer)].written = true;
  return store(buffer, dot(index, layout_(root_)), cast(std::move(value), root_.dtype()));
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

Block Region::loops(const std::vector<Dim>& extents,
                    const std::function<Block(const Index&)>& body) {
  Index index;
  std::vector<Symbol> symbols;
  for (const Dim& extent : extents) {
    symbols.push_back(range("i" + std::to_string(names_++), extent));
    index.push_back(extent.is_const(1) ? Dim(0) : Dim(symbols.back()));
  }
  Block block = body(index);
  for (size_t i = extents.size(); i-- > 0;) {
    if (!extents[i].is_const(1))
      block = {loop(LoopKind::Parallel, symbols[i], extents[i], std::move(block))};
  }
  return block;
}

Block Region::take_lets() {
  Block result = std::move(lets_);
  lets_.clear();
  return result;
}

ExprRef Region::at(Value value, const Index& index) {
  if (value != root_ && regions_.stored.contains(value)) return load_stored(value, index);
  return compute(value, index);
}

ExprRef Region::compute(Value value, const Index& index) {
  const Node& node = *value.node;
  const graph::Attributes& attributes = node.attributes();
  const auto axis_count = index.size();
  switch (node.op()) {
    case graph::Op::Constant:
      return load_stored(value, index);
    case graph::Op::Dims:
      return dims_leaf(node, index);
    case graph::Op::Define:
      return at(node.operand(0), index);
    case graph::Op::Reshape: {
      const Dim linear = dot(index, value.shape().strides());
      return at(node.operand(0), delinearize(linear, node.operand(0).shape()));
    }
    case graph::Op::Transpose: {
      Index source(axis_count);
      for (size_t i = 0; i < axis_count; ++i)
        source[static_cast<size_t>(attributes.integers("perm")[i])] = index[i];
      return at(node.operand(0), source);
    }
    case graph::Op::Expand:
      return at(node.operand(0),
                broadcast_index(node.operand(0).shape(), index, node.types()[0].shape));
    case graph::Op::Slice: {
      Index source(axis_count);
      for (size_t i = 0; i < axis_count; ++i) {
        source[i] = attributes.dims("starts")[i] + index[i] * attributes.integers("steps")[i];
      }
      return at(node.operand(0), source);
    }
    case graph::Op::Concat:
      return concat(node, index);
    case graph::Op::Gather:
      return gather(node, index);
    case graph::Op::Conv:
    case graph::Op::ConvTranspose:
      return conv_element(*this, node, index);
    case graph::Op::RandomUniform:
    case graph::Op::RandomNormal:
      return random_op(node, dot(index, value.shape().strides()));
    case graph::Op::BitCast:
      return bit_cast_op(node, at(node.operand(0), index));
    default:
      TENON_CHECK(graph::has(node.op(), graph::kElementwise),
                  "[{}] cannot be computed inside another kernel", graph::info(node.op()).text);
      return elementwise(node, index);
  }
}

ExprRef Region::elementwise(const Node& node, const Index& index) {
  std::vector<ExprRef> operands;
  for (const Value& operand : node.operands())
    operands.push_back(at(operand, broadcast_index(operand.shape(), index, node.types()[0].shape)));
  if (node.op() == graph::Op::Cast) return cast_op(node, operands[0]);
  return scalar_op(node.op(), std::move(operands));
}

// The part that holds the index; loads of the others are masked off.
ExprRef Region::concat(const Node& node, const Index& index) {
  const auto axis = static_cast<size_t>(node.attributes().integer("axis"));
  ExprRef result;
  Dim start = 0;
  for (const Value& part : node.operands()) {
    const Dim extent = part.shape()[static_cast<int>(axis)];
    Index inside = index;
    inside[axis] = index[axis] - start;
    const Guard guard = {inside[axis], extent};
    const ExprRef value = guarded(at(part, inside), guard);
    result = result ? select(in_range(guard.index, guard.bound), value, result) : value;
    start = start + extent;
  }
  return result;
}

ExprRef Region::gather(const Node& node, const Index& index) {
  const auto axis = static_cast<size_t>(node.attributes().integer("axis"));
  const Value data = node.operand(0), indices = node.operand(1);
  const auto width = static_cast<size_t>(indices.shape().rank());
  const Index where(index.begin() + static_cast<int64_t>(axis),
                    index.begin() + static_cast<int64_t>(axis + width));
  const Dim extent = data.shape()[static_cast<int>(axis)];
  std::string key = fmt::format("{} {} {}", static_cast<const void*>(indices.node), indices.result,
                                extent.to_string());
  for (const Dim& dim : where) key += " " + dim.to_string();
  auto it = let_names_.find(key);
  if (it == let_names_.end()) {
    const ExprRef found = at(indices, where);
    it = let_names_.emplace(key, range("g" + std::to_string(names_++), extent)).first;
    const int reported = regions_.stored.contains(data) ? argument(data) : 0;
    lets_.push_back(let(it->second, found, extent, reported));
  }
  Index source(index.begin(), index.begin() + static_cast<int64_t>(axis));
  source.emplace_back(it->second);
  source.insert(source.end(), index.begin() + static_cast<int64_t>(axis + width), index.end());
  return at(data, source);
}

ExprRef Region::dims_leaf(const Node& node, const Index& index) {
  const auto& values = node.attributes().dims("values");
  ExprRef result = index_value(node.types()[0].dtype, values[0]);
  for (size_t i = 1; i < values.size(); ++i) {
    result = select(in_range(index[0] - static_cast<int64_t>(i), 1),
                    index_value(node.types()[0].dtype, values[i]), result);
  }
  return result;
}

Lowered Region::finish(std::string name, Block body) {
  kernel_.name = std::move(name);
  kernel_.body = std::move(body);
  kernel_.dims = free_symbols(kernel_);
  Dim bytes = 0;
  for (const Value& value : arguments_) bytes = bytes + value.type().bytes();
  kernel_.bytes = bytes;
  // The result goes last, so that callers know where it is.
  const auto it = std::find(arguments_.begin(), arguments_.end(), root_);
  TENON_CHECK(it != arguments_.end(), "kernel {} stores nothing", kernel_.name);
  const auto from = static_cast<int>(it - arguments_.begin());
  const auto last = static_cast<int>(arguments_.size()) - 1;
  arguments_.erase(it);
  arguments_.push_back(root_);
  for (Buffer& buffer : kernel_.buffers) {
    if (buffer.storage != Storage::Global) continue;
    buffer.source_index = buffer.source_index == from
                              ? last
                              : buffer.source_index - (buffer.source_index > from ? 1 : 0);
  }
  return {std::move(kernel_), std::move(arguments_)};
}

}  // namespace tenon::lower
