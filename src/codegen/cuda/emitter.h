// Emitter: writes one kernel of level `gpu` as a CUDA C++ function. A block computes work items
// one after the other; what stands outside of loops over threads is done by each of its threads
// alike. A value that differs by lane is a list of scalars, one per lane.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/fragments.h"
#include "codegen/cuda/index_text.h"
#include "codegen/cuda/pipeline.h"
#include "codegen/cuda/shared_layout.h"
#include "codegen/kernel_writer.h"
#include "codegen/text/literals.h"
#include "codegen/text/names.h"
#include "kernel/kernel.h"

namespace tenon::codegen::cuda {

// A value of the program being written, as expressions without effects: one where it is the same in
// all lanes, else one per lane.
struct Value {
  DType dtype;
  std::vector<std::string> lanes;

  bool varies() const { return lanes.size() > 1; }
  const std::string& at(int64_t lane) const {
    return lanes[varies() ? static_cast<size_t>(lane) : 0];
  }
};

// Whether every value of the Dim is a multiple.
bool is_multiple(const Dim& d, int64_t of);

class Emitter final : KernelWriter<Value, std::vector<std::string>> {
 public:
  explicit Emitter(const kernel::Kernel& kernel);
  std::string emit();  // the function, without the prelude

 private:
  struct Storage {
    std::string base;          // a pointer or array
    std::string aligned;       // whether the base is, to 16 bytes: a constant or a variable
    bool is_constant = false;  // nothing that the kernel stores can be in it
  };

  // emit_kernel.cpp
  void declare_buffer(size_t index);
  void declare_thread_buffers();

  // emit_stmt.cpp
  void emit_block(const kernel::Block& block) override;
  void emit_counted(const kernel::Loop& loop) override;
  void emit_grid(const kernel::Loop& loop);
  void emit_serial(const kernel::Loop& loop);
  void emit_let(const kernel::Let& let) override;
  void emit_on_gpu(const kernel::Stmt& stmt) override;
  void emit_together(const kernel::Loop& loop);
  void emit_threads(const kernel::Loop& loop);
  void emit_prefetch(const kernel::Prefetch&) override {}
  [[noreturn]] void refuse(std::string_view what) const;
  void emit_ladder(const kernel::Loop&) override { refuse("a ladder"); }
  void emit_specialize(const kernel::Specialize&) override { refuse("specialize"); }
  void emit_multiply_add(const kernel::Mma&, size_t, const Value&, const Value&) override {
    refuse("mma");
  }
  Value in_all_lanes(const kernel::ExprRef& expr) override { return emit_expr(expr); }

  // emit_combine.cpp
  void emit_combine(const kernel::Combine& combine);

  // emit_pipeline.cpp
  void emit_pipeline(const kernel::Loop& loop, const Pipeline& pipeline);
  void emit_fill(const Pipeline& pipeline, const Symbol& symbol, const std::string& step,
                 const std::string& end);
  void in_slot(const Pipeline& pipeline, const std::string& step,
               const std::function<void()>& emit_inside);
  bool emit_copy(const kernel::Store& store);  // false where it is no such copy

  // emit_tile.cpp
  void emit_tile_fma(const kernel::TileMma& tile);
  std::vector<std::string> tile_operand(const kernel::Expr& load, const Symbol& symbol,
                                        const std::vector<Dim>& values, DType dtype);

  // emit_tensor_core.cpp
  void emit_tensor_core(const kernel::TileMma& tile);
  void emit_halves(const kernel::TileMma& tile, const Fragments& fragments);
  void emit_tf32(const kernel::TileMma& tile, const Fragments& fragments);
  void emit_products(const kernel::TileMma& tile, const Fragments& fragments, const std::string& a,
                     const std::string& b);
  std::string matrix_address(const kernel::Expr& load, const OperandStrides& strides,
                             const std::string& outer, const std::string& k);

  // emit_memory.cpp
  void emit_store(const kernel::Store& store) override;
  void store_register(const kernel::Store& store, const Value& value);
  void store_wide(const kernel::Store& store, const Value& value);
  Value emit_load(const kernel::Expr& expr);
  Value load_register(const kernel::Expr& expr);
  Value load_wide(const kernel::Expr& expr, const Dim& offset);
  bool is_contiguous(const Dim& offset) const;  // one element after the other over the lanes
  std::string element(int buffer, const Dim& offset, int64_t lane);  // as something to be read
  std::string aligned_text(int buffer, const Dim& first, const std::string& pointer);
  std::optional<std::string> condition_of_multiple(const Dim& d, int64_t of);
  std::string register_text(int buffer, const Dim& offset, int64_t lane) const;
  std::string lanes_type(DType dtype) const;

  // emit_guard.cpp
  std::string in_range(const Dim& index, const Dim& bound, int64_t lane);
  bool varies(const std::vector<kernel::Guard>& guards) const;
  std::string guard_text(const std::vector<kernel::Guard>& guards, int64_t lane);  // empty: always
  // That it holds in all lanes; none where that is not seen from the first and last one.
  std::optional<std::string> all_lanes_text(const std::vector<kernel::Guard>& guards);

  // emit_expr.cpp
  Value emit_expr(const kernel::ExprRef& expr) override;
  Value emit_index(const kernel::Expr& expr);
  Value emit_in_range(const kernel::Expr& expr);
  Value emit_pointwise(const kernel::Expr& expr);
  Value emit_cast(const Value& x, DType to);
  Value variable(DType dtype, const std::vector<std::string>& lanes);
  int64_t lanes_of(bool varies) const { return varies ? lane_count_ : 1; }

  // Indices.
  IndexText index(const Dim& dim, int64_t lane = 0);
  std::string dim(const Dim& d, int64_t lane = 0) { return index(d, lane).text; }
  bool is_varying(const Dim& d) const { return is_lane_varying(known(d)); }
  void bind(const Symbol& symbol, std::string text, bool wide);
  void unbind(const Symbol& symbol) { bindings_.erase(symbol.name()); }

  // Text.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.append(indent_ * 2, ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void open(const std::string& head = "") {
    line("{}{{", head.empty() ? "" : head + " ");
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, ++temporaries_); }
  const kernel::Buffer& buffer(int index) const {
    return kernel_.buffers[static_cast<size_t>(index)];
  }
  Storage& storage(int index) { return storage_[static_cast<size_t>(index)]; }
  const Storage& storage(int index) const { return storage_[static_cast<size_t>(index)]; }

  SharedLayout layout_;
  int64_t threads_;
  Names names_;
  std::string out_;
  size_t indent_ = 0;
  int temporaries_ = 0;
  int loops_ = 0;             // of a block, that are open inside of the work item
  bool fills_ahead_ = false;  // inside of what a pipeline fills
  // Inside of a loop over threads: whether memory is taken to be aligned, and on what conditions.
  bool assumes_aligned_ = false;
  std::set<std::string> assumed_;
  std::set<const kernel::Combine*> exchanged_;  // written once already: copies of an unrolled loop
  std::vector<Storage> storage_;
  std::map<std::string, SymbolText> bindings_;
};

}  // namespace tenon::codegen::cuda
