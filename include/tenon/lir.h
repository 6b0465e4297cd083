// LirModule: a model as the last stage before code has it: the legalized graph and the plan of its
// memory and steps. Plain data; it prints, and what it prints can be read again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/compile_options.h"
#include "tenon/graph.h"

namespace tenon {

struct LirState;

// When a node or a step runs.
enum class Phase : uint8_t {
  Prologue,  // once for each set of parameters: leaves, and what depends on parameters only
  Steady,    // in every run
  Epilogue,  // in every run, and nothing but an output needs it
};
std::string_view to_string(Phase phase);

// Memory and order of a run. Sizes are formulas over the dims of the inputs.
struct BufferPlan {
  struct Slot {
    Dim offset, size;  // bytes in the block of its stage
    int stage = 0;     // 0, and one more after each step that defines extents (see order)
  };
  struct Buffer {
    Dim bytes;
    int slot = -1;   // -1: it is a view, or nothing needs it
    Dim offset = 0;  // in the slot
  };
  struct ViewAlias {
    int buffer = 0;
    std::string root;  // `arena 3`, `output "y"`
    Dim byte_offset;
  };
  struct Step {
    std::string kind, origin;  // of a kernel, or "define", "if", "loop": done by the runtime
    Phase phase = Phase::Steady;
    std::vector<std::string> reads, writes;  // `input "x"`, `param "w"`, `packed 0`, `arena 3`
    std::vector<BufferPlan> bodies = {};     // of "if" and "loop": each has memory of its own
  };
  struct Tensor {
    std::string name;
    TensorType type;
  };

  int64_t alignment = 64;
  Dim arena_size;
  Dim total_unshared_bytes;  // the arena without sharing
  Dim bytes_saved;           // of these
  int buffers_reused = 0;    // that took memory another one had before
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<ViewAlias> views;
  std::vector<Step> order;
  std::vector<Tensor> inputs, params, outputs;  // in the order of declaration
  std::vector<std::string> dynamic_symbols;     // of the inputs
};
// For people, and part of what LirModule::print writes: a line per figure, slot, buffer and step.
std::string to_string(const BufferPlan& plan);

class LirModule {
 public:
  struct Node {
    std::string op, origin;
    TensorType type;  // of its first result
    Phase phase = Phase::Steady;
  };

  Graph graph() const;              // legalized
  std::vector<Node> nodes() const;  // of it, operands before users
  Phase phase(size_t node) const;   // of nodes(); none such is an Error
  const BufferPlan& plan() const;
  Device device() const;  // what it was planned for

  bool is_fully_static() const { return plan().dynamic_symbols.empty(); }
  bool has_dynamic_dims() const { return !is_fully_static(); }
  const std::vector<std::string>& dynamic_symbols() const { return plan().dynamic_symbols; }

  // Of all that decides results: the graph with its constants, parameters by name and type, options
  // that change numbers. The same in every process and on every machine.
  std::string fingerprint() const;

  // The same model for these extents alone, planned anew: a value for each of dynamic_symbols().
  // Values that are missing, unknown, out of bounds or against a constraint are Errors. Nothing to
  // bind gives the same module.
  LirModule specialize(const DimBinding& binding) const;

  // All of it as text: fingerprint, what it was planned by, plan, graph. Data of parameters is not
  // in it.
  std::string print() const;
  // What print wrote, to the letter: the graph is planned again, by the options of the text, and
  // must give what the text says; else it is an Error that names the first line that differs.
  // Options that are given must be those of the text; threads, codegen and the like are free.
  // Parameters are to be set anew.
  static LirModule parse(std::string_view text, const CompileOptions& options = {});

 private:
  friend struct LirState;
  std::shared_ptr<const LirState> state_;
};

}  // namespace tenon
