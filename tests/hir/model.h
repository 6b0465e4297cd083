// A module whose leaves have numbers, and the check that it gives what a naive reference does:
// under both policies, by the interpreter and compiled, and by a backend that claims primitives
// only.
#pragma once

#include <gtest/gtest.h>

#include "api/graph_state.h"
#include "legalize/decompose_fused.h"
#include "tenon/hir.h"
#include "tests/driver/run_graph.h"
#include "tests/graph/tensors.h"
#include "tests/hir/naive.h"

namespace tenon::hir_test {

using naive::Array;

constexpr FusionPolicy kPolicies[] = {FusionPolicy::Direct, FusionPolicy::Fusable};

inline graph::Graph lowered(const HirModule& module, FusionPolicy policy) {
  return GraphState::of(lower_hir(module, policy)).graph;
}

class Model {
 public:
  HirModule m;

  HirValue input(const std::string& name, const Shape& shape, const Array& numbers,
                 DType dtype = DType::F32) {
    tensors_[name] = graph::tensor(dtype, numbers.shape, numbers.data);
    return m.input(name, {shape, dtype});
  }
  // [batch, seq, hidden]
  HirValue input(const std::string& name, const Array& numbers) {
    return input(name, {sym::batch(), sym::seq(), numbers.width()}, numbers);
  }
  HirValue param(const Array& numbers, DType dtype = DType::F32) {
    const std::string name = "p" + std::to_string(tensors_.size());
    tensors_[name] = graph::tensor(dtype, numbers.shape, numbers.data);
    std::vector<Dim> dims(numbers.shape.begin(), numbers.shape.end());
    return m.param(name, {Shape(dims), dtype});
  }

  void expect(const std::vector<std::pair<HirValue, Array>>& results, double tolerance = 2e-5) {
    std::vector<HirModule::Output> outputs;
    for (const auto& [value, expected] : results)
      outputs.push_back({"y" + std::to_string(outputs.size()), value});
    m.set_outputs(outputs);
    for (const FusionPolicy policy : kPolicies) {
      SCOPED_TRACE(policy == FusionPolicy::Direct ? "direct" : "fusable");
      const graph::Graph g = lowered(m, policy);
      graph::verify(g);
      const auto interpreted = graph::interpret(g, tensors_);
      const auto compiled = graph_test::RunGraph(g).run(tensors_);
      const auto common = graph_test::RunGraph(g, of_primitives()).run(tensors_);
      for (size_t i = 0; i < results.size(); ++i) {
        for (const graph::Tensor& actual : {interpreted[i], compiled[i], common[i]}) {
          EXPECT_EQ(actual.shape, results[i].second.shape);
          graph::expect_near(actual, results[i].second.data, tolerance);
        }
      }
    }
  }

 private:
  static driver::Options of_primitives() {
    driver::Options options{.cpu = cpu_info()};
    options.supported_ops.emplace();
    for (int i = 0; i < graph::kOpCount; ++i) {
      const auto op = static_cast<graph::Op>(i);
      if (!legalize::is_fused(op)) options.supported_ops->insert(std::string(graph::info(op).text));
    }
    return options;
  }

  std::map<std::string, graph::Tensor> tensors_;
};

}  // namespace tenon::hir_test
