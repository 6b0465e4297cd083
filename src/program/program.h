// Program: what the compiler makes and the runtime runs; the only thing they share. Plain data:
// machine code, steps in order, buffers with symbolic sizes and offsets, and the manifest of
// inputs, parameters and outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "program/checked_bytes.h"
#include "program/cpu_needs.h"
#include "program/device_kind.h"
#include "tenon/custom_function.h"
#include "tenon/shape.h"

namespace tenon::program {

// A compiled kernel. Work items [begin, end) of the step's grid are computed; items are
// independent.
//   buffers  one pointer per buffer of the kernel, in the order of Step::buffers
//   dims     the values of Step::dims
//   scratch  Step::scratch_bytes bytes of the calling worker's own, 64-byte aligned
//   fault    set to a nonzero code where an index found at run time lies outside its axis (see
//   Fault)
using KernelFunction = void (*)(void* const* buffers, const int64_t* dims, void* scratch,
                                int64_t begin, int64_t end, int64_t* fault);

// fault[0] is 1 + the position of the offending buffer in Step::buffers, fault[1] the index,
// fault[2] the extent.
inline constexpr int kFaultWords = 3;

// On CPUs position-independent, self-contained machine code: text and read-only data in one piece,
// no relocation left. For CUDA a cubin with the kernel `tenon_kernel`, called as
// runtime/cuda/argument_block.h says.
struct Code {
  std::string name;
  std::vector<std::byte> bytes;  // on CPUs mapped at a page boundary
  int64_t entry = 0;             // CPUs: offset of the KernelFunction
  Digest digest;                 // of bytes; checked when loaded
  int threads = 0;               // CUDA: of a block
  int64_t shared_bytes = 0;      // CUDA: dynamic shared memory of a block
};

enum class BufferKind : uint8_t { Input, Output, Param, Constant, Packed, Arena };

struct BufferRef {
  BufferKind kind;
  int index;  // into the list of that kind
  bool operator==(const BufferRef&) const = default;
};

// What most of a step's operations are: a machine has a rate for each. Multiply-adds of f32 (and of
// whatever else is no product below), products of bf16 pairs, products of 8-bit integers.
enum class Arithmetic : uint8_t { F32, Bf16, Int8 };

struct Step {
  int code = 0;  // into Program::code
  std::vector<BufferRef> buffers;
  std::vector<bool> writes;  // per buffer: written by the step (else only read)
  std::vector<Dim> dims;
  Dim grid = 1;           // number of work items
  Dim scratch_bytes = 0;  // per worker
  Dim flops = 0,
      bytes = 0;  // the least the step must compute and move; decides the number of threads
  Arithmetic arithmetic = Arithmetic::F32;
  std::string kind;    // "linear", "attention", ...
  std::string origin;  // the ops and layers it came from
  // A written buffer and one that is read, as positions: the first may take the second's memory,
  // for each element is read only where it is written.
  std::vector<std::pair<int, int>> in_place = {};
  // Set by the plan: it is independent of the step before it and of those that this one runs with,
  // so that all of them, a wave, may run at the same time.
  bool with_previous = false;
};

// What the executor does itself, between kernels.
enum class HostKind : uint8_t {
  Define,  // the elements of its operand are the values of its symbols
  If,      // condition, inputs of the first body, inputs of the second; one of them runs
  Loop,    // trips, condition, carried values, what else the body reads: as graph/ops/control.def
           // says
  Custom,  // calls a function of the user's, on memory of the host
};

struct Program;

struct HostStep {
  struct Tensor {  // dense
    BufferRef buffer;
    TensorType type;
  };
  HostKind kind = HostKind::Define;
  int before = 0;  // it comes before steps[before]; several at one place keep their order
  std::vector<Tensor> operands;
  std::vector<Tensor> results;  // of all but Define
  std::vector<Symbol> symbols;  // that have values from here on: elements, or extents of results
  std::vector<std::shared_ptr<const Program>> bodies;
  int carried = 0;  // Loop: how many values go from one iteration to the next
  std::string origin;
  std::optional<CustomFunction> function = {};  // of Custom, which no file holds
  std::vector<Dim> dims = {};                   // whose values it is given
};

// An input whose memory stays between runs, and which steps write: it has `capacity` elements along
// `axis`, of which `length` count when a run has ended.
struct StateSlot {
  int axis = 0;
  int64_t capacity = 0;
  Dim length;
};

// An input or output. Its memory has `type.shape` elements that count, laid out with `strides` (in
// elements): each symbolic axis but the outermost has a capacity of its own, the symbol
// `<name>.cap<axis>`, at least the extent.
struct IoSlot {
  std::string name;
  TensorType type;
  std::vector<Dim> strides;
  std::vector<Dim> capacity;  // per axis: the extent itself or its capacity symbol
  // An output whose extents only the run knows: the arena buffer that holds it, dense, when the run
  // ends. -1: it is written where the caller wants it.
  int late = -1;
  std::optional<StateSlot> state = {};
};

struct ParamSlot {
  std::string name;
  TensorType type;
  std::span<const std::byte> initial;  // empty: set by the user before the first run
  std::shared_ptr<const void> owner;   // keeps `initial` alive
  // `initial` is to be found good before it is read; null: it is as it should be.
  std::shared_ptr<const CheckedBytes> check = {};
};

struct ConstantSlot {
  TensorType type;
  std::vector<std::byte> bytes;
};

// A buffer filled by the prologue from parameters alone (packed, converted, concatenated weights).
struct PackedSlot {
  int64_t bytes = 0;
};

// Bytes of another buffer: one that is no view itself and whose memory is dense.
struct View {
  BufferRef root;
  Dim offset;  // in bytes
};

// Memory of a run's own, or bytes of some other buffer.
struct ArenaBuffer {
  Dim bytes;
  int slot = -1;  // set by the plan; of a view: its root's, or -1 where that is not in the arena
  std::optional<View> view = {};
  Dim offset = 0;  // set by the plan: where in its slot it begins; of a view: 0
};

// Slots of the arena; buffers that are never alive at the same time share one, and so do those that
// fit beside each other: a buffer begins where its slot begins, or ends where it ends. A stage
// begins with each host step: a slot belongs to the first one that knows its size, and each stage
// has a block of memory of its own. Offsets are prefix sums of slot sizes inside a stage.
struct ArenaPlan {
  std::vector<Dim> slot_bytes;  // aligned
  std::vector<Dim> slot_offsets;
  std::vector<int> slot_stages;
  std::vector<Dim> stage_bytes;
  Dim bytes = 0;           // the whole arena
  Dim unshared_bytes = 0;  // what it would be without sharing
  int64_t alignment = 64;
};

struct Program {
  DeviceKind device = DeviceKind::Cpu;
  CpuNeeds cpu;                 // nothing, where the code is not for a CPU
  int cuda_arch = 0;            // of the cubins: 90 for compute capability 9.0
  std::vector<Symbol> symbols;  // the free symbols of input shapes
  std::vector<Symbol> given;    // a body's: symbols of the program around it
  std::vector<Constraint> constraints;
  std::vector<IoSlot> inputs, outputs;
  std::vector<ParamSlot> params;
  std::vector<ConstantSlot> constants;
  std::vector<PackedSlot> packed;
  std::vector<ArenaBuffer> arena;
  ArenaPlan plan;
  std::vector<std::shared_ptr<const Code>> code;  // each kernel once, however many steps use it
  std::vector<Step> prologue;                     // run once per set of parameters
  std::vector<Step> steps;                        // run every time, in order
  std::vector<HostStep> host_steps;               // between them, by place
};

// The bytes that a buffer is. Of an input or output with gaps: those that count.
struct ByteRange {
  BufferRef root;  // not a view
  Dim begin, end;
};
ByteRange byte_range(const Program& program, const BufferRef& ref);
bool are_disjoint(const ByteRange& a, const ByteRange& b);  // at every shape
inline BufferRef root_of(const Program& program, const BufferRef& ref) {
  if (ref.kind != BufferKind::Arena) return ref;
  const auto& view = program.arena[static_cast<size_t>(ref.index)].view;
  return view ? view->root : ref;
}

// Which stage knows a Dim: 0 before the first host step, i + 1 after host step i.
class Stages {
 public:
  explicit Stages(const Program& program);
  int of(const Dim& dim) const;  // symbols that no host step defines are known from the start
  int count() const { return count_; }

 private:
  std::map<std::string, int> of_symbol_;
  int count_;
};

}  // namespace tenon::program
