// Which values exist in memory: what a second pass over memory costs, against computing again. The
// rule, by the kind of an op:
//   kernel       contractions, attention, norms, reductions, scans, scatters, sorts, updates:
//   stored, as what they are cast to where that is all that reads them; rotary
//                positions too, but those of queries, which attention turns as it reads them
//   view         an index map: never stored
//   count        range: a formula of the index, stored only where memory is wanted
//   lookup       gathers: done inside their one consumer (an index per element is as cheap as its
//                load), but stored where a reduction would look up inside of its range
//   elementwise  and pads: done inside their one consumer, stored if they have several; factors of
//                contractions that are widened are stored as they were before; what follows a
//                convolution or a product of bytes is done with it
//   row scale    what a row is quantized by: made and stored by the kernel that does that
// Whatever reaches an operand that a kernel reads over and over is stored. What depends on
// parameters only is stored once, before the first run; weights on their way into packed panels are
// not stored at all.
#include <algorithm>
#include <optional>

#include "fuse/fuse.h"
#include "fuse/integer_product.h"
#include "fuse/row_scales.h"
#include "graph/convolution.h"
#include "graph/host_ops.h"
#include "graph/linear_parts.h"
#include "graph/state.h"

namespace tenon::fuse {

using graph::is_conv;
using graph::is_pool;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

bool is_view(Op op) {
  return op == Op::Reshape || op == Op::Transpose || op == Op::Expand || op == Op::Slice;
}

bool is_lookup(Op op) {
  return op == Op::Gather || op == Op::GatherElements || op == Op::GatherND || op == Op::TopK;
}

// Kernels that go element by element, in loops: look-ups are statements of those loops.
bool is_walk(Op op) {
  return op == Op::CumSum || op == Op::CumProd || op == Op::ScatterElements || op == Op::ScatterND;
}

bool is_norm(Op op) { return op == Op::LayerNorm || op == Op::RmsNorm; }

bool is_kernel(Op op) {
  return op == Op::Linear || op == Op::GatedLinear || op == Op::MatMul || op == Op::Attention ||
         op == Op::Rotary || op == Op::Softmax || op == Op::ArgMax || op == Op::ArgMin ||
         op == Op::Unique || op == Op::Update || is_norm(op) || is_walk(op) || is_pool(op) ||
         graph::has(op, graph::kReduction);
}

// Operands that a kernel reads over and over: only index maps may stand between them and memory.
bool wants_memory(const Node& user, int operand) {
  switch (user.op()) {
    case Op::Linear:  // every column of a row reads its scale
      return operand < 2 || user.operand(operand) == graph::parts_of(user).row_scale;
    case Op::Conv:
    case Op::ConvTranspose:
    case Op::MaxPool:
    case Op::AveragePool:
    case Op::LpPool:
      return operand < 2;
    case Op::GatedLinear:
    case Op::MatMul:
    case Op::Attention:
    case Op::Rotary:
    case Op::Unique:
      return true;
    case Op::TopK:
      return operand == 0;
    default:
      return false;
  }
}

bool is_weight(const Node& user, int operand) {
  if (user.op() == Op::GatedLinear) return operand == 1 || operand == 2;
  return (user.op() == Op::Linear || user.op() == Op::MatMul || is_integer_product(user)) &&
         operand == 1;
}

// A cast that contractions do on the way from memory: of factors that are stored in fewer bytes.
bool is_widening(const Node& node) {
  const DType to = node.types()[0].dtype;
  return node.op() == Op::Cast && (to == DType::F32 || to == DType::I32) &&
         size_of(node.operand(0).dtype()) < size_of(to) &&
         !is_storage_only(node.operand(0).dtype());
}

// Kernels that may store what they compute in fewer bits.
bool stores_any_float(Op op) {
  return op == Op::Linear || op == Op::GatedLinear || op == Op::MatMul || op == Op::Attention ||
         op == Op::Softmax || is_norm(op);
}

bool is_factor(const Node& user, int operand) {
  if (user.op() == Op::GatedLinear) return operand < 3;
  return (user.op() == Op::Linear || user.op() == Op::MatMul || is_integer_product(user)) &&
         operand < 2;
}

using Constants = std::unordered_set<const Node*>;

bool is_made_of(const Constants& constants, const Node& node) {
  const auto is_one = [&](const Value& operand) { return constants.contains(operand.node); };
  return node.types()[0].shape.is_static() && std::ranges::all_of(node.operands(), is_one);
}

// What is computed once per set of weights. Outputs are not: every run writes them.
Constants constants_of(const graph::Graph& graph, const graph::UseLists& uses) {
  Constants result;
  for (const Node* node : graph.topological()) {
    const bool leaf = graph::has(node->op(), graph::kLeaf);
    const bool given = node->op() == Op::Param || node->op() == Op::Constant;
    const bool made = !leaf && !graph::is_host_op(node->op()) && !uses.is_output({node, 0}) &&
                      is_made_of(result, *node);
    if (given || made) result.insert(node);
  }
  return result;
}

class Partitioner {
 public:
  Partitioner(const graph::Graph& graph, const FusionLimits& limits)
      : graph_(graph), uses_(graph), limits_(limits), constant_(constants_of(graph, uses_)) {}

  Regions run() {
    for (const Node* node : graph_.topological()) {
      visit(*node);
      clip(*node);
    }
    for (const graph::Output& output : graph_.outputs()) keep(output.value);
    join_row_scales(graph_, uses_, constant_, regions_);
    // In topological order, each once.
    for (const Node* node : graph_.topological()) {
      // The last result first: others may be looked up by it.
      for (int i = node->result_count(); i-- > 0;) {
        const Value value{node, i};
        const bool own = regions_.stored.contains(value) && !regions_.made_beside.contains(value);
        if (!graph::has(node->op(), graph::kLeaf) && own) {
          regions_.roots.push_back(value);
          if (constant_.contains(node)) regions_.prologue.insert(value);
        }
      }
    }
    return std::move(regions_);
  }

 private:
  void keep(Value value) {
    if (value.op() != Op::Dims) regions_.stored.insert(value);
  }

  void visit(const Node& node) {
    const Value value{&node, 0};
    if (graph::has(node.op(), graph::kLeaf)) {
      keep(value);
      return;
    }
    if (graph::is_host_op(node.op())) {
      for (const Value& operand : node.operands()) keep(operand);
      for (int i = 0; i < node.result_count(); ++i) keep({&node, i});
      return;
    }
    const bool constant = constant_.contains(&node);
    if (!constant && (is_turned_query(value) || is_turned_row(value))) return;
    if (!constant && is_stored_as_its_cast(value)) return;
    if (narrowed(value, regions_)) keep(value);
    if (node.op() == Op::Update && reads_state(node.operand(1), *graph::state_of(value)))
      keep(node.operand(1));
    const bool used = node.result_count() == 1 || !uses_.uses(value).empty();
    const bool is_own_kernel = is_kernel(node.op()) && !is_integer_product(node);
    if (used && (is_own_kernel || must_store(value, constant) || ends_epilogue(value))) keep(value);
    for (int i = 1; i < node.result_count(); ++i) {
      if (!uses_.uses({&node, i}).empty() || node.op() == Op::TopK) keep({&node, i});
    }
  }

  // What is computed where a value is read.
  struct Inside {
    int steps = 0, inputs = 0;
    void add(const Inside& other) { steps += other.steps, inputs += other.inputs; }
  };
  Inside inside_of(Value value) const {
    if (value.op() == Op::Constant && value.shape().elements().is_const(1)) return {};  // a number
    if (regions_.stored.contains(value)) return {.inputs = 1};
    const auto found = inside_.find(value.node);
    return found == inside_.end() ? Inside{} : found->second;
  }

  // What would make the work inside of one kernel too much is stored before it.
  void clip(const Node& node) {
    if (limits_ == FusionLimits() || graph::has(node.op(), graph::kLeaf)) return;
    Inside inside;
    for (const Value& operand : node.operands()) inside.add(inside_of(operand));
    if (graph::has(node.op(), graph::kElementwise)) ++inside.steps;
    const bool too_much = (limits_.max_steps > 0 && inside.steps > limits_.max_steps) ||
                          (limits_.max_inputs > 0 && inside.inputs > limits_.max_inputs);
    if (too_much) {
      inside = {.steps = 1};
      for (const Value& operand : node.operands()) {
        if (inside_of(operand).steps > 0) keep(operand);
        inside.add(inside_of(operand));
      }
    }
    inside_[&node] = inside;
  }

  // Attention reads each query once, and turns it then; keys it would turn once per head and block
  // of queries.
  bool is_turned_query(Value value) const {
    if (value.op() != Op::Rotary || uses_.is_output(value)) return false;
    const auto uses = uses_.uses(value);
    return uses.size() == 1 && uses[0].user->op() == Op::Attention && uses[0].operand == 0 &&
           uses[0].user->attributes().integer("heads") == value.node->attributes().integer("heads");
  }

  // Keys on their way to a cache are turned as they are stored there.
  bool is_turned_row(Value value) const {
    if (value.op() != Op::Rotary || uses_.is_output(value)) return false;
    const auto uses = uses_.uses(value);
    if (uses.size() != 1 || uses[0].user->op() != Op::Update) return false;
    const Value state = *graph::state_of({uses[0].user});
    return graph::state_layout(state)->axis == 1 && !reads_state(value.node->operand(0), state);
  }

  // Only a cast to fewer bits reads it: the kernel stores those.
  bool is_stored_as_its_cast(Value value) const {
    if (!stores_any_float(value.op()) || value.dtype() != DType::F32 || uses_.is_output(value))
      return false;
    const auto uses = uses_.uses(value);
    if (uses.size() != 1 || uses[0].user->op() != Op::Cast) return false;
    const DType to = uses[0].user->types()[0].dtype;
    return to == DType::F16 || to == DType::BF16;
  }

  // Whether the kernel that computes the value would read the state: rows that an update writes
  // must not be read by others of its rows.
  bool reads_state(Value value, Value state) const {
    std::vector<Value> pending = {value};
    std::unordered_set<Value> seen;
    while (!pending.empty()) {
      const Value current = pending.back();
      pending.pop_back();
      if (!seen.insert(current).second) continue;
      if (graph::state_of(current) == state) return true;
      if (regions_.stored.contains(current)) continue;
      pending.insert(pending.end(), current.node->operands().begin(),
                     current.node->operands().end());
    }
    return false;
  }

  // A convolution or a product of bytes is stored after the elementwise work that follows it (bias,
  // activation, residual), as long as that has one reader and no second one of them in it.
  bool ends_epilogue(Value value) {
    bool carries = is_conv(value.op()) || is_integer_product(*value.node);
    for (const Value& operand : value.node->operands()) carries |= epilogue_.contains(operand.node);
    if (!carries) return false;
    const auto uses = uses_.uses(value);
    const Node* user = uses.size() == 1 && !uses_.is_output(value) ? uses[0].user : nullptr;
    const bool goes_on = user && graph::has(user->op(), graph::kElementwise) &&
                         user->types()[0].shape == value.shape() && claimed_.insert(user).second;
    if (goes_on) epilogue_.insert(value.node);
    return !goes_on;
  }

  // Random numbers are drawn by position, in the order of their own tensor.
  static bool is_random(Op op) { return op == Op::RandomUniform || op == Op::RandomNormal; }

  bool must_store(Value value, bool constant) const {
    if (is_random(value.op())) return true;
    const auto uses = uses_.uses(value);
    if (constant) return !is_view(value.op()) && feeds_a_run(value);
    if (is_view(value.op())) return false;
    const auto reads_factor = [](const auto& use) { return is_factor(*use.user, use.operand); };
    if (is_widening(*value.node) && std::ranges::all_of(uses, reads_factor)) return false;
    for (const auto& use : uses) {
      if (reaches_memory_operand(use)) return true;
    }
    if (value.op() == Op::Range) return false;
    if (uses.size() > 1 || value.op() == Op::Concat) return true;
    return is_lookup(value.op()) && !gathers_rows_of_a_norm(value) && ends_in_a_reduction(value);
  }

  // Whether the kernel that would compute the value looks it up inside of a reduction.
  bool ends_in_a_reduction(Value value) const {
    const auto uses = uses_.uses(value);
    const bool stored = uses.size() > 1 && !is_view(value.op());
    if (stored || uses_.is_output(value)) return false;
    return std::ranges::any_of(uses, [&](const auto& use) {
      const Node& user = *use.user;
      if (graph::is_host_op(user.op())) return false;
      if (is_kernel(user.op()) || carries_sums(user)) return !is_walk(user.op());
      return ends_in_a_reduction({&user, 0});
    });
  }

  // Whether a convolution or a product may be computed together with the node.
  static bool carries_sums(const Node& node, int depth = 4) {
    if (is_conv(node.op()) || is_integer_product(node)) return true;
    if (depth == 0 || !graph::has(node.op(), graph::kElementwise)) return false;
    return std::ranges::any_of(node.operands(), [&](const Value& operand) {
      return carries_sums(*operand.node, depth - 1);
    });
  }

  // Looked-up rows are summed and normalized where they are found (embeddings).
  bool gathers_rows_of_a_norm(Value value) const {
    if (value.op() != Op::Gather) return false;
    const auto axis = value.node->attributes().integer("axis");
    if (axis + value.node->operand(1).shape().rank() >= value.shape().rank()) return false;
    const Shape shape = value.shape();
    while (true) {
      const auto uses = uses_.uses(value);
      if (uses.size() != 1 || uses_.is_output(value)) return false;
      const Node& user = *uses[0].user;
      if (is_norm(user.op()) && uses[0].operand == 0) return true;
      if (!graph::has(user.op(), graph::kElementwise) || user.types()[0].shape != shape)
        return false;
      value = {&user, 0};
    }
  }

  // Whether the value, perhaps through views, is an operand that wants memory.
  bool reaches_memory_operand(const graph::UseLists::Use& use) const {
    std::vector<graph::UseLists::Use> pending = {use};
    while (!pending.empty()) {
      const auto current = pending.back();
      pending.pop_back();
      if (wants_memory(*current.user, current.operand)) return true;
      if (!is_view(current.user->op()) && !is_widening(*current.user)) continue;
      for (const auto& next : uses_.uses({current.user, 0})) pending.push_back(next);
    }
    return false;
  }

  // A value of parameters only: stored where a run reads it, except as a weight, which packing
  // reads once.
  bool feeds_a_run(Value value) const {
    return std::ranges::any_of(uses_.uses(value), [&](const graph::UseLists::Use& use) {
      return !is_made_of(constant_, *use.user) && !is_weight(*use.user, use.operand);
    });
  }

  const graph::Graph& graph_;
  graph::UseLists uses_;
  FusionLimits limits_;
  Constants constant_;
  Regions regions_;
  std::unordered_map<const Node*, Inside> inside_;
  std::unordered_set<const Node*> epilogue_;  // convolutions, products, what follows; not stored
  std::unordered_set<const Node*> claimed_;   // readers that compute one of them
};

}  // namespace

std::optional<Value> narrowed(Value root, const Regions& regions) {
  if (root.op() != Op::Cast) return std::nullopt;
  const Value before = root.node->operand(0);
  const bool real = stores_any_float(before.op()) && before.dtype() == DType::F32;
  return real && !regions.stored.contains(before) ? std::optional(before) : std::nullopt;
}

Regions partition(const graph::Graph& graph, const OuterSymbols& outer,
                  const FusionLimits& limits) {
  Regions regions = Partitioner(graph, limits).run();
  order_updates(regions);
  place(graph, outer, regions);
  return regions;
}

}  // namespace tenon::fuse
