// Session: what compiles.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tenon/compiled_graph.h"
#include "tenon/graph.h"
#include "tenon/hir.h"

namespace tenon {

namespace graph {
class Graph;  // the tensor IR
}

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

class Session {
 public:
  Session() = default;
  explicit Session(CompileOptions defaults) : defaults_(std::move(defaults)) {}

  // Parameters without data are to be set on the result, before its first run.
  CompiledGraph compile(const Graph& graph) const { return compile(graph, defaults_); }
  CompiledGraph compile(const Graph& graph, const CompileOptions& options) const;
  // As lower_hir makes a graph of the module, directly.
  CompiledGraph compile(const HirModule& module) const { return compile(lower_hir(module)); }
  CompiledGraph compile(const HirModule& module, const CompileOptions& options) const {
    return compile(lower_hir(module), options);
  }

  CompiledGraph compile_onnx(const std::string& path) const {
    return compile_onnx(path, defaults_);
  }
  CompiledGraph compile_onnx(const std::string& path, const CompileOptions& options) const;

 private:
  static CompiledGraph finish(const std::function<graph::Graph()>& read,
                              const CompileOptions& options);
  CompileOptions defaults_;
};

}  // namespace tenon
