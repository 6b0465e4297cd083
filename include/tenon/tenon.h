// Tenon: describe or load a model, compile it once, run it at any shape.
//
//   tenon::Session session;
//   tenon::CompiledGraph encoder = session.compile_onnx("encoder.onnx");
//   std::vector<int64_t> ids = {101, 2023, 102}, ones = {1, 1, 1}, zeros = {0, 0, 0};
//   auto outputs = encoder.run({{"input_ids", tenon::view(ids, {1, 3})},
//                               {"attention_mask", tenon::view(ones, {1, 3})},
//                               {"token_type_ids", tenon::view(zeros, {1, 3})}});
//   std::span<const float> hidden = outputs[0].as<float>();
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tenon/device.h"
#include "tenon/error.h"

namespace tenon {

enum class DType : uint8_t;
template <typename T>
DType dtype_of() = delete;  // float, double, the integers of 8 to 64 bits, bool
template <>
DType dtype_of<float>();
template <>
DType dtype_of<double>();
template <>
DType dtype_of<int8_t>();
template <>
DType dtype_of<int16_t>();
template <>
DType dtype_of<int32_t>();
template <>
DType dtype_of<int64_t>();
template <>
DType dtype_of<uint8_t>();
template <>
DType dtype_of<uint16_t>();
template <>
DType dtype_of<uint32_t>();
template <>
DType dtype_of<uint64_t>();
template <>
DType dtype_of<bool>();

// Memory of the caller's. `capacity`, where given, has an extent per axis of how much memory the
// axis takes (at least shape); absent, the memory is dense.
struct TensorView {
  const void* data = nullptr;
  DType dtype{};
  std::vector<int64_t> shape;
  std::vector<int64_t> capacity = {};
};

struct MutableTensorView {
  void* data = nullptr;
  DType dtype{};
  std::vector<int64_t> shape;
  std::vector<int64_t> capacity = {};
};

template <typename T>
TensorView view(const std::vector<T>& data, std::vector<int64_t> shape) {
  return {data.data(), dtype_of<T>(), std::move(shape)};
}
template <typename T>
TensorView view(std::span<const T> data, std::vector<int64_t> shape) {
  return {data.data(), dtype_of<T>(), std::move(shape)};
}

// A result, owned.
struct OwnedTensor {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  template <typename T>
  std::span<const T> as() const {  // another dtype is an Error
    check_dtype(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  void check_dtype(DType wanted) const;
};

using NamedInputs = std::map<std::string, TensorView>;
using NamedOutputs = std::map<std::string, MutableTensorView>;

struct CompileOptions {
  Device device;  // one that is not available is an Error which says why
  // The compute capability to compile for, 90 for 9.0, where `device` is a GPU; 0: what it has.
  // Where given, the GPU need not be there: then it is the run that is an Error.
  int cuda_arch = 0;
  int threads = 0;  // 0: as many as this process may use
  std::string cpu;  // "avx2" or "avx512" caps the instruction set; empty: what the machine has (and
                    // TENON_CPU)
  // What generates machine code: "llvm", in this process, or "c", through the C compiler that
  // TENON_CC names (the same results; a process per kernel, so compiling takes longer). Empty:
  // TENON_CODEGEN, or llvm.
  std::string codegen;
  // What operands of f32 contractions (linear layers, matrix products, convolutions) may be rounded
  // to so that tensor cores multiply them: "tf32" or "bf16", on GPUs. Sums and everything else stay
  // f32. Empty or "f32": they are not rounded.
  std::string precision = {};
  std::map<std::string, std::pair<int64_t, int64_t>>
      dim_bounds;  // narrows symbols of the model: {"seq", {1, 512}}
};

struct CompileStats {
  double milliseconds = 0;
  int kernels = 0;           // compiled: structurally equal ones once
  int steps = 0;             // of a run
  int64_t weight_bytes = 0;  // parameters as given
  int64_t packed_bytes = 0;  // weights made ready for the kernels
};

struct TensorInfo {
  std::string name;
  DType dtype{};
  std::vector<std::string> shape;  // "batch", "seq", "384"
};

// A symbol of the inputs' shapes and the extents it may take.
struct DimInfo {
  std::string name;
  int64_t least = 1, most = 1;
};

// Memory that a run takes: an input, an output, or the arena of what lies between.
struct MemoryUse {
  std::string what;  // `input "input_ids"`
  int64_t bytes = 0;
};

// How one run goes.
struct RunOptions {
  // Asked to stop (from any thread), the run ends with Cancelled at the next piece of work, some
  // hundred microseconds at most where work can be cut that fine.
  std::stop_token stop = {};
  // The most bytes the run may take between its steps: arena, scratch, and what the bodies of
  // branches and loops give. Inputs, outputs and weights are apart. 0: no limit.
  int64_t memory_limit = 0;
};

// A run that was asked to stop. Its outputs hold whatever was written until then.
class Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorKind::User, "[run] cancelled") {}
};

// One compiled model. One thread at a time may run it; a concurrent run is an Error.
class CompiledGraph {
 public:
  ~CompiledGraph();
  CompiledGraph(CompiledGraph&&) noexcept;
  CompiledGraph& operator=(CompiledGraph&&) noexcept;

  // Extents come from the shapes of the inputs. Unknown or missing names, wrong dtypes or sizes,
  // extents outside their bounds: an Error before anything runs.
  // After an Error, Cancelled among them, the graph may be run again.
  std::vector<OwnedTensor> run(const NamedInputs& inputs, const RunOptions& options = {});
  // Writes into the caller's memory, which may overlap neither that of inputs nor that of other
  // outputs. Allocates nothing after the first run of a shape.
  void run_into(const NamedInputs& inputs, const NamedOutputs& outputs,
                const RunOptions& options = {});

  // What a run with inputs of these shapes would take; nothing runs and none of it is reserved.
  // Data is not read and may be null. Names, dtypes and shapes that run() refuses are the same
  // Error here.
  std::vector<MemoryUse> memory_of(const NamedInputs& inputs);

  // The bytes of arena and scratch that a run takes at these extents: {{"batch", 8}, {"seq", 128}},
  // one for every dim, and with the present number of threads. Models with branches or loops are
  // Unsupported: only a run knows.
  int64_t peak_bytes(const std::map<std::string, int64_t>& extents);

  void set_threads(int threads);  // at most as many as this process may use
  // Copies the value; holds from the next run on.
  void set_param(const std::string& name, const TensorView& value);

  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  std::vector<DimInfo> dims() const;
  Device device() const;
  int threads() const;
  const CompileStats& stats() const;
  // Multiply-adds counted twice, from the graph's shapes, at the extents of the last run (or
  // memory_of).
  double flops_of_last_run() const;
  int64_t arena_bytes() const;  // of the last run (or memory_of)

 private:
  friend class Session;
  struct Impl;
  explicit CompiledGraph(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Session {
 public:
  Session() = default;
  explicit Session(CompileOptions defaults) : defaults_(std::move(defaults)) {}

  CompiledGraph compile_onnx(const std::string& path) const {
    return compile_onnx(path, defaults_);
  }
  CompiledGraph compile_onnx(const std::string& path, const CompileOptions& options) const;

 private:
  CompileOptions defaults_;
};

}  // namespace tenon
