// KernelWriter: what every generator does alike with a scheduled kernel. It walks the statements,
// copies unrolled loops, and knows which symbols are numbers and which differ from lane to lane;
// what is written for a loop, a store or a value is the generator's own business.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "kernel/kernel.h"

namespace tenon::codegen {

// Value: of an expression; LaneIndex: of a let inside a vector loop, an integer per lane.
template <typename Value, typename LaneIndex>
class KernelWriter {
 public:
  explicit KernelWriter(const kernel::Kernel& kernel) : kernel_(kernel) {}
  KernelWriter(const KernelWriter&) = delete;
  KernelWriter& operator=(const KernelWriter&) = delete;
  virtual ~KernelWriter() = default;

 protected:
  virtual void emit_block(const kernel::Block& block) = 0;  // and the end of what its lets bind
  virtual void emit_counted(const kernel::Loop& loop) = 0;  // Thread and Serial
  virtual void emit_ladder(const kernel::Loop& loop) = 0;
  virtual void emit_store(const kernel::Store& store) = 0;
  virtual void emit_let(const kernel::Let& let) = 0;
  virtual void emit_prefetch(const kernel::Prefetch& prefetch) = 0;
  virtual void emit_specialize(const kernel::Specialize& specialize) = 0;
  virtual Value emit_expr(const kernel::ExprRef& expr) = 0;
  virtual Value in_all_lanes(const kernel::ExprRef& expr) = 0;  // a scalar is repeated
  // Barriers, combinations, tiles and loops over threads: of GPUs only.
  virtual void emit_on_gpu(const kernel::Stmt&) {
    throw internal_error("kernel {}: a statement for GPUs", kernel_.name);
  }
  // The register at place `at` of the tile takes in a * b.
  virtual void emit_multiply_add(const kernel::Mma& mma, size_t at, const Value& a,
                                 const Value& b) = 0;

  void emit_stmt(const kernel::Stmt& stmt) {
    memo_.clear();
    if (const auto* loop = stmt.as<kernel::Loop>()) {
      return loop->kind == kernel::LoopKind::Together ? emit_on_gpu(stmt) : emit_loop(*loop);
    }
    if (const auto* store = stmt.as<kernel::Store>()) return emit_store(*store);
    if (const auto* let = stmt.as<kernel::Let>()) return emit_let(*let);
    if (const auto* specialize = stmt.as<kernel::Specialize>()) return emit_specialize(*specialize);
    if (const auto* prefetch = stmt.as<kernel::Prefetch>()) return emit_prefetch(*prefetch);
    if (const auto* mma = stmt.as<kernel::Mma>()) return emit_mma(*mma);
    emit_on_gpu(stmt);
  }

  // With unrolled and specialized symbols replaced by their values.
  Dim known(const Dim& dim) const {
    if (constants_.empty() || dim.is_const()) return dim;
    return dim.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
      const auto it = constants_.find(symbol.name());
      return it == constants_.end() ? std::nullopt : std::optional<Dim>(it->second);
    });
  }
  bool is_lane_varying(const Dim& dim) const {
    if (!lane_) return false;
    for (const Symbol& symbol : dim.symbols()) {
      if (symbol == *lane_ || lane_symbols_.contains(symbol.name())) return true;
    }
    return false;
  }
  Dim at_lane(const Dim& dim, int64_t lane) const { return dim.substitute(*lane_, lane); }

  // Which of a register buffer's registers an offset means; those of `vectors` hold kLaneCount
  // elements each.
  size_t register_place(int buffer, const Dim& raw, bool vectors, size_t count) const {
    const Dim offset = known(lane_ ? at_lane(raw, 0) : raw);
    TENON_CHECK(offset.is_const(), "kernel {}: register buffer {} is indexed by {}", kernel_.name,
                kernel_.buffers[static_cast<size_t>(buffer)].name, offset.to_string());
    const int64_t at = vectors ? offset.const_value() / kernel::kLaneCount : offset.const_value();
    TENON_CHECK(at >= 0 && at < static_cast<int64_t>(count), "kernel {}: register {} out of range",
                kernel_.name, at);
    return static_cast<size_t>(at);
  }

  const kernel::Kernel& kernel_;
  std::map<std::string, int64_t> constants_;
  std::optional<Symbol> lane_;                           // inside a vector loop
  int64_t lane_count_ = kernel::kLaneCount;              // of it
  std::map<std::string, LaneIndex> lane_symbols_;        // lets inside a vector loop
  std::unordered_map<const kernel::Expr*, Value> memo_;  // within one statement

 private:
  void emit_loop(const kernel::Loop& loop) {
    switch (loop.kind) {
      case kernel::LoopKind::Thread:
      case kernel::LoopKind::Serial:
        return emit_counted(loop);
      case kernel::LoopKind::Ladder:
        return emit_ladder(loop);
      case kernel::LoopKind::Unroll:
        return emit_unrolled(loop);
      case kernel::LoopKind::Vector:
        return emit_vector(loop);
      case kernel::LoopKind::Parallel:
      case kernel::LoopKind::Together:
        throw internal_error("kernel {}: no such loop after scheduling", kernel_.name);
    }
  }

  void emit_unrolled(const kernel::Loop& loop) {
    const Dim extent = known(loop.extent);
    TENON_CHECK(extent.is_const(), "kernel {}: unrolled loop of extent {}", kernel_.name,
                extent.to_string());
    for (int64_t i = 0; i < extent.const_value(); ++i) {
      constants_[loop.symbol.name()] = i;
      emit_block(*loop.body);
    }
    constants_.erase(loop.symbol.name());
  }

  void emit_vector(const kernel::Loop& loop) {
    TENON_CHECK(!lane_ && loop.extent.is_const(), "kernel {}: bad vector loop", kernel_.name);
    lane_ = loop.symbol;
    lane_count_ = loop.extent.const_value();
    for (const kernel::Stmt& stmt : *loop.body) emit_stmt(stmt);
    lane_.reset();
    lane_symbols_.clear();
  }

  // For each row: broadcast a, multiply by the vectors of b, add to the row's accumulators.
  void emit_mma(const kernel::Mma& mma) {
    const Dim rows = known(mma.rows);
    TENON_CHECK(rows.is_const(), "kernel {}: mma of {} rows", kernel_.name, rows.to_string());
    const int64_t vectors = mma.cols / kernel::kLaneCount;
    const Symbol lane = Symbol::range("mma.lane", kernel::kLaneCount);
    std::vector<Value> b;
    for (int64_t v = 0; v < vectors; ++v) {
      lane_ = lane;
      memo_.clear();
      b.push_back(in_all_lanes(substitute(mma.b, [&](const Symbol& symbol) -> std::optional<Dim> {
        if (symbol == mma.col) return Dim(lane) + v * kernel::kLaneCount;
        return std::nullopt;
      })));
      lane_.reset();
    }
    for (int64_t row = 0; row < rows.const_value(); ++row) {
      constants_[mma.row.name()] = row;
      memo_.clear();
      const Value a = in_all_lanes(mma.a);
      for (int64_t v = 0; v < vectors; ++v) {
        emit_multiply_add(mma, static_cast<size_t>(row * vectors + v), a,
                          b[static_cast<size_t>(v)]);
      }
    }
    constants_.erase(mma.row.name());
  }
};

}  // namespace tenon::codegen
