// A graph, region by region, on the interpreter of the loop IR: as lowered, or changed by a
// schedule.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "lower/lower.h"
#include "simplify/simplify.h"
#include "tests/lower/graph_cases.h"
#include "tests/lower/random_tensors.h"

namespace tenon::graph_test {

// Lowers and runs every region of the graph, in order. Values are dense.
class LoweredGraph {
 public:
  // `change`: what is done to each lowered kernel before it runs; packs fill buffers of it.
  struct Changed {
    kernel::Kernel kernel;
    std::vector<kernel::Kernel> packs;
  };
  using Change = std::function<Changed(const kernel::Kernel&)>;
  explicit LoweredGraph(const Graph& graph, const Change& change = nullptr)
      : graph_(graph), regions_(fuse::partition(graph)) {
    const auto dense = [](Value value) { return value.shape().strides(); };
    for (const Value& root : regions_.roots) {
      kernels_.push_back(lower::lower(root, regions_, dense));
      packs_.emplace_back();
      if (!change) continue;
      Changed changed = change(kernels_.back().kernel);
      kernels_.back().kernel = std::move(changed.kernel);
      packs_.back() = std::move(changed.packs);
    }
  }

  const std::vector<lower::Lowered>& kernels() const { return kernels_; }

  std::vector<graph::Tensor> run(const Tensors& inputs, const Extents& extents) {
    values_.clear();
    for (size_t i = 0; i < kernels_.size(); ++i) {
      std::vector<std::vector<std::byte>> packed(packs_[i].size());
      for (size_t p = 0; p < packed.size(); ++p) {
        const kernel::Buffer& filled = packs_[i][p].buffers.back();
        packed[p].resize(
            static_cast<size_t>(evaluate(filled.elements, extents) * size_of(filled.dtype)));
        run_kernel(packs_[i][p], kernels_[i].arguments, packed, inputs, extents);
      }
      run_kernel(kernels_[i].kernel, kernels_[i].arguments, packed, inputs, extents);
    }
    std::vector<graph::Tensor> outputs;
    for (const graph::Output& output : graph_.outputs()) {
      memory(output.value, inputs, extents);
      outputs.push_back(values_.at(output.value));
    }
    return outputs;
  }

 private:
  void run_kernel(const kernel::Kernel& kernel, const std::vector<Value>& arguments,
                  std::vector<std::vector<std::byte>>& packed, const Tensors& inputs,
                  const Extents& extents) {
    std::vector<void*> buffers;
    for (const kernel::Buffer& buffer : kernel.buffers) {
      const bool global = buffer.storage == kernel::Storage::Global;
      const auto at = static_cast<size_t>(buffer.source_index);
      if (!global) {
        buffers.push_back(nullptr);
      } else if (buffer.source == kernel::Source::Packed) {
        buffers.push_back(packed[at].data());
      } else {
        buffers.push_back(memory(arguments[at], inputs, extents));
      }
    }
    std::vector<int64_t> dims;
    for (const Symbol& symbol : kernel.dims) dims.push_back(extents.at(symbol.name()));
    int64_t fault[3] = {};
    kernel::interpret(kernel, buffers, dims, fault);
    EXPECT_EQ(fault[0], 0) << kernel::print(kernel);
  }

  void* memory(Value value, const Tensors& inputs, const Extents& extents) {
    const auto [it, fresh] = values_.try_emplace(value);
    graph::Tensor& tensor = it->second;
    if (fresh && (value.op() == Op::Input || value.op() == Op::Param)) {
      tensor = inputs.at(value.node->name());
    } else if (fresh) {
      tensor.dtype = value.dtype();
      for (const Dim& dim : value.shape()) tensor.shape.push_back(evaluate(dim, extents));
      tensor.bytes.resize(static_cast<size_t>(tensor.elements() * size_of(value.dtype())));
      const auto constant = value.node->bytes();
      std::copy(constant.begin(), constant.end(), tensor.bytes.begin());
    }
    return tensor.bytes.data();
  }

  const Graph& graph_;
  fuse::Regions regions_;
  std::vector<lower::Lowered> kernels_;
  std::vector<std::vector<kernel::Kernel>> packs_;  // of each
  std::unordered_map<Value, graph::Tensor> values_;
};

// What the pipeline does before it lowers, as far as lowering needs it: no split, outputs that are
// computed.
inline Graph prepared(const GraphCase& test) {
  Graph source = test.graph();
  return simplify::fold_shape_values(simplify::decompose_split(source));
}

}  // namespace tenon::graph_test
