// See dot2.h. A pair of the left operand is read as one u32 where k is its innermost axis and rows
// begin at even elements: the argument gets a second buffer, of pairs. Elsewhere, and for the right
// operand, which is packed anyway, a pair is made of its two elements.
#include "schedule/dot2.h"

#include <map>

#include "schedule/add_pack.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// What a value was before it was widened from bf16; null where it was not.
ExprRef as_bf16(const ExprRef& value) {
  const bool widened = value->op == Op::Cast && value->dtype == DType::F32;
  return widened && value->args[0]->dtype == DType::BF16 ? value->args[0] : nullptr;
}

class ByPairs {
 public:
  explicit ByPairs(const Kernel& lowered) : kernel_(lowered) {}

  Kernel run() {
    kernel_.body = transform_exprs(kernel_.body, [&](const ExprRef& root) {
      return transform(root, [&](Expr& e) { return contraction(e); });
    });
    return std::move(kernel_);
  }

 private:
  ExprRef contraction(const Expr& e) {
    if (e.op != Op::ReduceFma || e.dtype != DType::F32) return nullptr;
    const ExprRef a = as_bf16(e.args[0]), b = as_bf16(e.args[1]);
    if (!a || !b || a->op != Op::Load || is_convolution(a, b)) return nullptr;
    const Dim& depth = e.bound;
    const Symbol& k = e.range[0];
    if (!a->index.coefficient(k)) return nullptr;  // a gathered one: left as it is
    const Dim steps = ceildiv(depth, 2);
    const Symbol step = Symbol::range(k.name() + "2", steps);
    const ExprRef rows =
        is_pair_in_memory(*a, k, depth) ? load_pair(*a, k, step) : pair(a, k, step, depth);
    return reduce(Op::ReduceDot2, step, steps, {rows, pair(b, k, step, depth), e.args[2]});
  }

  // Rows of weights by columns of data, which have a schedule of their own: windows are staged.
  bool is_convolution(const ExprRef& a, const ExprRef& b) const {
    return is_constant(kernel_, a) && !is_constant(kernel_, b);
  }

  bool is_pair_in_memory(const Expr& load, const Symbol& k, const Dim& depth) const {
    const Buffer& buffer = kernel_.buffers[static_cast<size_t>(load.buffer)];
    return buffer.storage == Storage::Global && !buffer.written && load.guards.empty() &&
           load.index.coefficient(k) == Dim(1) && mod(load.index - k, 2).is_const(0) &&
           mod(depth, 2).is_const(0);
  }

  ExprRef load_pair(const Expr& load, const Symbol& k, const Symbol& step) {
    const Dim at = floordiv(load.index - k, 2) + step;
    return kernel::load(pairs_of(load.buffer), DType::U32, at);
  }

  // The buffer of the same argument that has pairs as elements.
  int pairs_of(int buffer) {
    const auto [it, fresh] = pairs_.try_emplace(buffer, 0);
    if (fresh) {
      Buffer pairs = kernel_.buffers[static_cast<size_t>(buffer)];
      pairs.name += "_pairs";
      pairs.dtype = DType::U32;
      pairs.elements = floordiv(pairs.elements, 2);
      it->second = kernel_.add_buffer(std::move(pairs));
    }
    return it->second;
  }

  // Past the last element of an odd depth it is zero, and memory is not touched.
  static ExprRef pair(const ExprRef& value, const Symbol& k, const Symbol& step, const Dim& depth) {
    const Dim first = Dim(step) * 2, second = first + 1;
    const bool partial = !mod(depth, 2).is_const(0);
    ExprRef guarded = value;
    if (partial) {
      guarded = transform(value, [&](Expr& copy) -> ExprRef {
        if (copy.op == Op::Load) copy.guards.push_back({k, depth});
        return nullptr;
      });
    }
    const auto bits = [&](const ExprRef& element, const Dim& at) {
      const ExprRef there = substitute(
          element, [&](const Symbol& s) { return s == k ? std::optional(at) : std::nullopt; });
      return cast(bit_cast(there, DType::U16), DType::U32);
    };
    ExprRef high = bits(guarded, second);
    if (partial && value->op != Op::Load) {
      high = select(in_range(second, depth), high, constant(DType::U32, 0));
    }
    const ExprRef shifted = pointwise(Op::ShiftLeft, {high, constant(DType::U32, 16)});
    return pointwise(Op::BitOr, {bits(value, first), shifted});
  }

  Kernel kernel_;
  std::map<int, int> pairs_;
};

}  // namespace

Kernel with_dot2(const Kernel& lowered) { return ByPairs(lowered).run(); }

bool has_dot2(const Kernel& scheduled) {
  bool found = false;
  for_each(scheduled.body, [&](const Stmt& stmt) {
    const auto* mma = stmt.as<Mma>();
    found = found || (mma && mma->kind == MmaKind::Dot2);
  });
  transform_exprs(scheduled.body, [&](const ExprRef& root) {
    for_each(root, [&](const Expr& e) { found = found || e.op == Op::Dot2; });
    return root;
  });
  return found;
}

}  // namespace tenon::schedule
