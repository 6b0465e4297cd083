// A graph, compiled once and run at any extents: driver, executor and inputs by name. Memory of
// inputs and outputs may have a capacity above the extents. Every run is repeated on a device whose
// memory the host cannot touch, and must give the same bits there.
#pragma once

#include <algorithm>
#include <memory>

#include "base/cpu_info.h"
#include "base/error.h"
#include "driver/pipeline.h"
#include "runtime/run_owned.h"
#include "tests/lower/random_tensors.h"
#include "tests/runtime/fake_cuda.h"

namespace tenon::graph_test {

// The instruction sets of this machine, least first.
inline std::vector<CpuIsa> isas_here() {
  std::vector<CpuIsa> isas = {CpuIsa::Avx2};
  if (detect_cpu(std::nullopt).isa == CpuIsa::Avx512) isas.push_back(CpuIsa::Avx512);
  return isas;
}

class RunGraph {
 public:
  explicit RunGraph(const graph::Graph& graph, CpuIsa isa = CpuIsa::Avx2,
                    std::vector<std::string> skip = {})
      : RunGraph(graph,
                 driver::Options{.cpu = detect_cpu(isa), .skip = std::move(skip), .dump = {}}) {}
  RunGraph(const graph::Graph& graph, const driver::Options& options)
      : compiled_(driver::compile(graph, options)),
        program_(std::make_shared<const program::Program>(compiled_.program)),
        executor_(runtime::Executor::load(program_, thread_pool()).take()),
        elsewhere_(runtime::Executor::load(runtime::cuda::for_fake_cuda(*program_),
                                           runtime::cuda::FakeCuda::stream())
                       .take()) {}

  int kernels() const { return compiled_.kernels; }
  const program::Program& program() const { return *program_; }
  void set_threads(int threads) { executor_->set_threads(threads); }

  // Parameters without data are among the inputs. With `spare`, every axis that may have a capacity
  // of its own gets one that is so much larger, and what lies between is filled with 0xff.
  std::vector<graph::Tensor> run(const Tensors& inputs, int64_t spare = 0) {
    std::vector<graph::Tensor> results;
    try {
      results = run_on(*executor_, inputs, spare);
    } catch (const Error&) {
      EXPECT_THROW(run_on(*elsewhere_, inputs, spare), Error);
      throw;
    }
    const std::vector<graph::Tensor> there = run_on(*elsewhere_, inputs, spare);
    EXPECT_EQ(results.size(), there.size());
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].shape, there[i].shape) << program_->outputs[i].name;
      EXPECT_TRUE(results[i].bytes == there[i].bytes) << program_->outputs[i].name;
    }
    return results;
  }

 private:
  std::vector<graph::Tensor> run_on(runtime::Executor& executor, const Tensors& inputs,
                                    int64_t spare) {
    for (const program::ParamSlot& param : program_->params) {
      const auto found = inputs.find(param.name);
      if (found == inputs.end()) continue;
      const graph::Tensor& t = found->second;
      executor.set_param(param.name, t.dtype, t.shape, t.bytes.data()).throw_if_error();
    }
    std::vector<Padded> in, out;
    std::vector<runtime::IoView> in_views, out_views;
    for (const program::IoSlot& slot : program_->inputs) {
      in.emplace_back(slot, inputs.at(slot.name).shape, spare);
      in.back().copy(inputs.at(slot.name).bytes, true);
    }
    for (Padded& padded : in) in_views.push_back(padded.view());
    executor.bind(in_views).throw_if_error();
    const bool any_late = std::ranges::any_of(
        program_->outputs, [](const program::IoSlot& slot) { return slot.late >= 0; });
    if (any_late) return run_owned(executor, in_views);
    for (size_t i = 0; i < program_->outputs.size(); ++i) {
      const auto extents = executor.output_extents(static_cast<int>(i));
      out.emplace_back(program_->outputs[i], std::vector<int64_t>(extents.begin(), extents.end()),
                       spare);
    }
    for (Padded& padded : out) out_views.push_back(padded.view());
    executor.execute(out_views).throw_if_error();
    std::vector<graph::Tensor> results;
    for (Padded& padded : out) {
      graph::Tensor& result = results.emplace_back(
          graph::Tensor{.dtype = padded.dtype, .shape = padded.shape, .bytes = {}});
      result.bytes.resize(static_cast<size_t>(result.elements() * size_of(result.dtype)));
      padded.copy(result.bytes, false);
      EXPECT_TRUE(padded.rest_is_untouched()) << "outside the extents of an output";
    }
    return results;
  }

  std::vector<graph::Tensor> run_owned(runtime::Executor& executor,
                                       std::span<const runtime::IoView> inputs) {
    std::vector<graph::Tensor> results;
    for (runtime::OwnedOutput& output : runtime::run_owned(executor, inputs).take()) {
      const DType dtype = program_->outputs[results.size()].type.dtype;
      results.push_back({dtype, std::move(output.shape), std::move(output.bytes)});
    }
    return results;
  }

  struct Padded {
    Padded(const program::IoSlot& slot, std::vector<int64_t> extents, int64_t spare)
        : dtype(slot.type.dtype), shape(std::move(extents)), capacity(shape) {
      for (size_t i = 0; i < shape.size(); ++i) {
        if (i == 0 || !(slot.capacity[i] == slot.type.shape[static_cast<int>(i)])) {
          capacity[i] += spare;
        }
      }
      size_t elements = 1;
      for (const int64_t c : capacity) elements *= static_cast<size_t>(c);
      bytes.assign(elements * size(), std::byte{0xff});
      covered.assign(elements, false);
    }
    size_t size() const { return static_cast<size_t>(size_of(dtype)); }
    runtime::IoView view() { return {bytes.data(), dtype, shape, capacity}; }
    void copy(std::vector<std::byte>& dense, bool to_here) {
      std::vector<int64_t> index(shape.size(), 0);
      for (size_t from = 0; from < dense.size(); from += size()) {
        size_t at = 0;
        for (size_t i = 0; i < shape.size(); ++i) {
          at = at * static_cast<size_t>(capacity[i]) + static_cast<size_t>(index[i]);
        }
        covered[at] = true;
        std::byte *here = &bytes[at * size()], *there = &dense[from];
        std::copy_n(to_here ? there : here, size(), to_here ? here : there);
        for (size_t i = shape.size(); i-- > 0;) {
          if (++index[i] < shape[i]) break;
          index[i] = 0;
        }
      }
    }
    void copy(const std::vector<std::byte>& dense, bool to_here) {
      std::vector<std::byte> writable = dense;
      copy(writable, to_here);
    }
    bool rest_is_untouched() const {
      for (size_t at = 0; at < bytes.size(); ++at) {
        if (!covered[at / size()] && bytes[at] != std::byte{0xff}) return false;
      }
      return true;
    }

    DType dtype;
    std::vector<int64_t> shape, capacity;
    std::vector<std::byte> bytes;
    std::vector<bool> covered;
  };

  driver::Compiled compiled_;
  std::shared_ptr<const program::Program> program_;
  std::unique_ptr<runtime::Executor> executor_, elsewhere_;
};

}  // namespace tenon::graph_test
