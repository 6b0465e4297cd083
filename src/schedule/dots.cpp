// See dots.h. A group of the left operand is read as one u32 where k is its innermost axis and rows
// begin at whole groups: the argument gets a second buffer, of groups. Elsewhere, and for the right
// operand, which is packed anyway, a group is made of its elements.
#include "schedule/dots.h"

#include <map>

#include "schedule/add_pack.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// What one step of a contraction takes of k.
struct Grouping {
  Op reduce;
  DType sum;          // operands are cast to it
  DType left, right;  // what they were before
  DType bits;         // of one element, unsigned
  const char* name;   // of buffers of groups

  int64_t size() const { return size_of(DType::U32) / size_of(bits); }
  ExprRef before_cast(const ExprRef& value, DType from) const {  // null where it was not
    const bool widened = value->op == Op::Cast && value->dtype == sum;
    return widened && value->args[0]->dtype == from ? value->args[0] : nullptr;
  }
};
constexpr Grouping kPairs = {Op::ReduceDot2, DType::F32, DType::BF16,
                             DType::BF16,    DType::U16, "_pairs"};
constexpr Grouping kFours = {Op::ReduceDot4, DType::I32, DType::U8, DType::I8, DType::U8, "_fours"};

class ByGroups {
 public:
  ByGroups(const Kernel& lowered, const Grouping& grouping)
      : kernel_(lowered), grouping_(grouping) {}

  Kernel run() {
    kernel_.body = transform_exprs(kernel_.body, [&](const ExprRef& root) {
      return transform(root, [&](Expr& e) { return contraction(e); });
    });
    return std::move(kernel_);
  }

 private:
  ExprRef contraction(const Expr& e) {
    if (e.op != Op::ReduceFma || e.dtype != grouping_.sum) return nullptr;
    const ExprRef a = grouping_.before_cast(e.args[0], grouping_.left),
                  b = grouping_.before_cast(e.args[1], grouping_.right);
    if (!a || !b || a->op != Op::Load || is_convolution(a, b)) return nullptr;
    const Dim& depth = e.bound;
    const Symbol& k = e.range[0];
    const Dim steps = ceildiv(depth, grouping_.size());
    const Symbol step = Symbol::range(k.name() + std::to_string(grouping_.size()), steps);
    const bool in_memory = is_group_in_memory(*a, k, step, depth);
    if (!in_memory && !a->index.coefficient(k)) return nullptr;  // a gathered one
    const ExprRef rows = in_memory ? load_group(*a, k, step) : group(a, k, step, depth);
    return reduce(grouping_.reduce, step, steps, {rows, group(b, k, step, depth), e.args[2]});
  }

  // Rows of weights by columns of data, which have a schedule of their own: windows are staged.
  bool is_convolution(const ExprRef& a, const ExprRef& b) const {
    return is_constant(kernel_, a) && !is_constant(kernel_, b);
  }

  // Whether the elements of a group lie side by side, from a whole group on, and are guarded alike:
  // rows of a matrix, channels of an image under one tap.
  bool is_group_in_memory(const Expr& load, const Symbol& k, const Symbol& step,
                          const Dim& depth) const {
    const Buffer& buffer = kernel_.buffers[static_cast<size_t>(load.buffer)];
    const int64_t size = grouping_.size();
    const Dim first = Dim(step) * size, at = load.index.substitute(k, first);
    if (buffer.storage != Storage::Global || buffer.written || !mod(depth, size).is_const(0) ||
        !mod(at, size).is_const(0))
      return false;
    for (int64_t i = 1; i < size; ++i) {
      if (load.index.substitute(k, first + i) != at + i) return false;
      for (const Guard& guard : load.guards) {
        if (guard.index.substitute(k, first + i) != guard.index.substitute(k, first) ||
            guard.bound.uses(k))
          return false;
      }
    }
    return true;
  }

  ExprRef load_group(const Expr& load, const Symbol& k, const Symbol& step) {
    const Dim first = Dim(step) * grouping_.size();
    std::vector<Guard> guards = load.guards;
    for (Guard& guard : guards) guard.index = guard.index.substitute(k, first);
    return kernel::load(groups_of(load.buffer), DType::U32,
                        floordiv(load.index.substitute(k, first), grouping_.size()), guards);
  }

  // The buffer of the same argument that has groups as elements.
  int groups_of(int buffer) {
    const auto [it, fresh] = groups_.try_emplace(buffer, 0);
    if (fresh) {
      Buffer groups = kernel_.buffers[static_cast<size_t>(buffer)];
      groups.name += grouping_.name;
      groups.dtype = DType::U32;
      groups.elements = floordiv(groups.elements, grouping_.size());
      it->second = kernel_.add_buffer(std::move(groups));
    }
    return it->second;
  }

  // Past the last element of a depth that is no multiple it is zero, and memory is not touched.
  ExprRef group(const ExprRef& value, const Symbol& k, const Symbol& step, const Dim& depth) const {
    const bool partial = !mod(depth, grouping_.size()).is_const(0);
    ExprRef guarded = value;
    if (partial) {
      guarded = transform(value, [&](Expr& copy) -> ExprRef {
        if (copy.op == Op::Load) copy.guards.push_back({k, depth});
        return nullptr;
      });
    }
    ExprRef result;
    for (int64_t i = 0; i < grouping_.size(); ++i) {
      const Dim at = Dim(step) * grouping_.size() + i;
      const ExprRef there = substitute(
          guarded, [&](const Symbol& s) { return s == k ? std::optional(at) : std::nullopt; });
      ExprRef bits = cast(bit_cast(there, grouping_.bits), DType::U32);
      if (i == 0) {
        result = bits;
        continue;
      }
      if (partial && value->op != Op::Load)
        bits = select(in_range(at, depth), bits, constant(DType::U32, 0));
      const auto shift = static_cast<double>(i * info(grouping_.bits).bits);
      result = pointwise(Op::BitOr,
                         {result, pointwise(Op::ShiftLeft, {bits, constant(DType::U32, shift)})});
    }
    return result;
  }

  Kernel kernel_;
  const Grouping& grouping_;
  std::map<int, int> groups_;
};

bool has_step(const Kernel& scheduled, Op step) {
  bool found = false;
  for_each(scheduled.body, [&](const Stmt& stmt) {
    const auto* mma = stmt.as<Mma>();
    found = found || (mma && mma->step() == step);
  });
  transform_exprs(scheduled.body, [&](const ExprRef& root) {
    for_each(root, [&](const Expr& e) { found = found || e.op == step; });
    return root;
  });
  return found;
}

}  // namespace

Kernel with_dot2(const Kernel& lowered) { return ByGroups(lowered, kPairs).run(); }
Kernel with_dot4(const Kernel& lowered) { return ByGroups(lowered, kFours).run(); }

bool has_dot2(const Kernel& scheduled) { return has_step(scheduled, Op::Dot2); }
bool has_dot4(const Kernel& scheduled) { return has_step(scheduled, Op::Dot4); }

}  // namespace tenon::schedule
