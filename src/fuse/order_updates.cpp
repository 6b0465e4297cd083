// Updates write over values of their state that others may still read. Roots stay in order, but for
// updates, which wait until those reads are done; rows that an update appends nobody has read. A
// read that needs what the update gave can only come after it: then there is no order in place.
#include <algorithm>
#include <queue>

#include "base/error.h"
#include "fuse/fuse.h"
#include "graph/host_ops.h"
#include "graph/state.h"

namespace tenon::fuse {
namespace {

using graph::Op;
using graph::Value;

class Order {
 public:
  explicit Order(Regions& regions) : regions_(regions), after_(regions.roots.size()) {
    for (const Value& root : regions_.roots) {
      if (root.op() == Op::Update) next_.emplace(root.node->operand(0), root);
      numbers_.emplace(root, numbers_.size());
    }
  }

  void run() {
    if (next_.empty() || !note_reads()) return;
    note_operands();
    std::vector<size_t> waits(after_.size());
    for (const auto& list : after_) {
      for (const size_t later : list) ++waits[later];
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i] == 0) ready.push(i);
    }
    std::vector<Value> ordered;
    while (!ready.empty()) {
      const size_t at = ready.top();
      ready.pop();
      ordered.push_back(regions_.roots[at]);
      for (const size_t later : after_[at]) {
        if (--waits[later] == 0) ready.push(later);
      }
    }
    if (ordered.size() < waits.size()) fail(waits);
    regions_.roots = std::move(ordered);
  }

 private:
  // The stored values that the kernel of a root reads. An update reads nothing of its state.
  std::vector<Value> reads_of(Value root) const {
    std::vector<Value> reads, pending;
    std::unordered_set<Value> seen;
    const auto add_operands = [&](Value value) {
      for (const Value& operand : value.node->operands()) {
        if (value.op() == Op::Update && operand == value.node->operand(0)) continue;
        if (seen.insert(operand).second) pending.push_back(operand);
      }
    };
    add_operands(root);
    while (!pending.empty()) {
      const Value value = pending.back();
      pending.pop_back();
      if (regions_.stored.contains(value)) {
        reads.push_back(value);
      } else {
        add_operands(value);
      }
    }
    return reads;
  }

  static bool writes_over(Value update, Value read) {
    const auto axis = static_cast<int>(graph::state_layout(*graph::state_of(read))->axis);
    const Dim& offset = update.node->attributes().dims("offset")[0];
    return prove_le(read.shape()[axis], offset) != Proof::Yes;
  }

  // Whether a read comes too late.
  bool note_reads() {
    bool late = false;
    for (size_t i = 0; i < regions_.roots.size(); ++i) {
      for (const Value& read : reads_of(regions_.roots[i])) {
        if (!graph::state_of(read)) continue;
        for (auto next = next_.find(read); next != next_.end(); next = next_.find(next->second)) {
          const size_t update = numbers_.at(next->second);
          if (update == i || !writes_over(next->second, read)) continue;
          after_[i].push_back(update);
          late = late || update < i;
        }
      }
    }
    return late;
  }

  // Symbols that a host step defines are known after it: nothing moves across one.
  void note_operands() {
    size_t host = after_.size();
    for (size_t i = 0; i < regions_.roots.size(); ++i) {
      const Value root = regions_.roots[i];
      std::vector<Value> reads = reads_of(root);
      if (root.op() == Op::Update) reads.push_back(root.node->operand(0));
      for (const Value& read : reads) {
        if (const auto found = numbers_.find(read); found != numbers_.end())
          after_[found->second].push_back(i);
      }
      if (host < i) after_[host].push_back(i);
      if (graph::is_host_op(root.op())) host = i;
    }
  }

  [[noreturn]] void fail(const std::vector<size_t>& waits) const {
    for (size_t i = 0; i < waits.size(); ++i) {
      const Value root = regions_.roots[i];
      if (waits[i] == 0 || root.op() != Op::Update) continue;
      throw user_error(
          "[update] the state \"{}\" {} is read after the update has written over it: there is no "
          "place for both values",
          graph::state_of(root)->node->name(), root.type().to_string());
    }
    throw internal_error("[update] roots depend on each other");
  }

  Regions& regions_;
  std::unordered_map<Value, Value> next_;      // of each value of a state: its update
  std::unordered_map<Value, size_t> numbers_;  // of roots
  std::vector<std::vector<size_t>> after_;     // of each root: those that come later
};

}  // namespace

void order_updates(Regions& regions) { Order(regions).run(); }

}  // namespace tenon::fuse
