// Expressions to instructions. Each node becomes one instruction, placed in the outermost list
// where all it depends on is known: outside of a reduction whose range it does not use. Constants
// become values at once.
#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "kernel/interpret_code.h"

namespace tenon::kernel {

class ExprCompiler {
 public:
  ExprCompiler(ExprCode& out, SlotTable& slots, const std::set<int>& written)
      : out_(out), slots_(slots), written_(written) {}

  void run(const ExprRef& root) {
    for_each(root, [&](const Expr& expr) { survey(expr); });
    frames_.push_back({});
    emit_all(root);
    out_.code_ = std::move(frames_[0].code);
    out_.result_ = frames_[0].values.at(root.get());
  }

 private:
  using Instr = ExprCode::Instr;
  // What a node depends on.
  struct Facts {
    std::set<Symbol> symbols;  // free in it
    bool pure = true;          // loads nothing that the kernel writes
  };
  // The body of a reduction being emitted; the first frame is the whole expression.
  struct Frame {
    std::optional<Symbol> range = {};
    std::vector<Instr> code = {};
    std::unordered_map<const Expr*, int> values = {};
  };

  void survey(const Expr& expr);
  void emit_all(const ExprRef& root);
  void emit(const Expr& expr, size_t frame);
  Instr instruction(const Expr& expr);
  int reduction(const Expr& expr, int target);
  bool placed(const Expr& expr, size_t& frame) const;
  int value(const Expr& expr) const;
  int new_value(Value value = {.i = 0}) {
    out_.values_.push_back(value);
    return static_cast<int>(out_.values_.size()) - 1;
  }

  ExprCode& out_;
  SlotTable& slots_;
  const std::set<int>& written_;
  std::set<Symbol> ranges_;  // of all reductions
  std::unordered_map<const Expr*, Facts> facts_;
  std::vector<Frame> frames_;
};

void ExprCompiler::survey(const Expr& expr) {
  Facts facts;
  const auto use = [&](const Dim& dim) {
    for (const Symbol& symbol : dim.symbols()) facts.symbols.insert(symbol);
  };
  for (const ExprRef& arg : expr.args) {
    const Facts& below = facts_.at(arg.get());
    facts.symbols.insert(below.symbols.begin(), below.symbols.end());
    facts.pure = facts.pure && below.pure;
  }
  for (const Symbol& range : expr.range) {
    facts.symbols.erase(range);
    ranges_.insert(range);
  }
  use(expr.index);
  use(expr.bound);
  for (const Guard& guard : expr.guards) {
    use(guard.index);
    use(guard.bound);
  }
  if (expr.buffer >= 0 && written_.contains(expr.buffer)) facts.pure = false;
  facts_.emplace(&expr, std::move(facts));
}

// Finds the frame a node belongs to; false where it is inside a reduction that is not open.
bool ExprCompiler::placed(const Expr& expr, size_t& frame) const {
  frame = 0;
  for (const Symbol& symbol : facts_.at(&expr).symbols) {
    if (!ranges_.contains(symbol)) continue;
    size_t at = frames_.size();
    while (--at > 0 && !(*frames_[at].range == symbol)) {
    }
    if (at == 0) return false;
    frame = std::max(frame, at);
  }
  return true;
}

int ExprCompiler::value(const Expr& expr) const {
  for (size_t at = frames_.size(); at-- > 0;) {
    const auto found = frames_[at].values.find(&expr);
    if (found != frames_[at].values.end()) return found->second;
  }
  throw internal_error("[interpret] {} uses a reduction's range outside of it", info(expr.op).text);
}

void ExprCompiler::emit_all(const ExprRef& root) {
  for_each(root, [&](const Expr& expr) {
    size_t frame = 0;
    if (placed(expr, frame) && !frames_[frame].values.contains(&expr)) emit(expr, frame);
  });
}

void ExprCompiler::emit(const Expr& expr, size_t frame) {
  const int target = new_value();
  if (expr.op == Op::Const) {
    out_.values_[static_cast<size_t>(target)] = value_of(expr.dtype, expr.value);
  } else {
    Instr instr = has(expr.op, kReduce) ? Instr{expr.op, expr.dtype, expr.dtype, target, {}, 0}
                                        : instruction(expr);
    if (has(expr.op, kReduce)) instr.detail = reduction(expr, target);
    instr.target = target;
    frames_[frame].code.push_back(instr);
  }
  frames_[frame].values[&expr] = target;
}

ExprCode::Instr ExprCompiler::instruction(const Expr& expr) {
  Instr instr{expr.op, expr.dtype, expr.dtype, 0, {0, 0, 0}, 0};
  // The last operand's dtype: a Select's condition comes first and is bool.
  if (!expr.args.empty()) instr.dtype = expr.args.back()->dtype;
  for (size_t i = 0; i < expr.args.size(); ++i) instr.args[i] = value(*expr.args[i]);
  if (expr.op == Op::Load) {
    instr.detail = static_cast<int>(out_.accesses_.size());
    out_.accesses_.push_back(
        {expr.buffer, DimCode(expr.index, slots_), GuardCode(expr.guards, slots_)});
  } else if (expr.op == Op::Index || expr.op == Op::InRange) {
    instr.detail = static_cast<int>(out_.indices_.size());
    out_.indices_.emplace_back(DimCode(expr.index, slots_), DimCode(expr.bound, slots_));
  } else if (has(expr.op, kLanes)) {
    instr.detail = expr.buffer;
  }
  return instr;
}

int ExprCompiler::reduction(const Expr& expr, int target) {
  frames_.push_back({.range = expr.range.at(0)});
  for (const ExprRef& arg : expr.args) emit_all(arg);
  ExprCode::Reduction r{.op = expr.op,
                        .dtype = expr.dtype,
                        .target = target,
                        .slot = slots_.slot(expr.range[0]),
                        .extent = DimCode(expr.bound, slots_),
                        .body = {},
                        .args = {},
                        .pure = facts_.at(&expr).pure,
                        .depends = {}};
  for (size_t i = 0; i < expr.args.size(); ++i) r.args[i] = value(*expr.args[i]);
  for (const Symbol& s : facts_.at(&expr).symbols) r.depends.push_back(slots_.slot(s));
  r.body = std::move(frames_.back().code);
  frames_.pop_back();
  out_.reductions_.push_back(std::move(r));
  return static_cast<int>(out_.reductions_.size()) - 1;
}

ExprCode::ExprCode(const ExprRef& root, SlotTable& slots, const std::set<int>& written)
    : dtype_(root->dtype) {
  ExprCompiler(*this, slots, written).run(expand_math(root));
}

}  // namespace tenon::kernel
