// GraphModule: a named model at any stage of the compiler: blocks, a graph, or a planned module.
//
//   auto module = tenon::GraphModule::define("mlp", [](tenon::Graph& g) {
//     tenon::Value x = g.input("x", {{tenon::sym::batch(), 64}, tenon::DType::F32});
//     tenon::Value w = g.param("w", {{64, 10}, tenon::DType::F32});
//     return g.relu(g.matmul(x, w));
//   });
//   tenon::CompiledGraph compiled = tenon::Session().compile(module);
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/graph.h"
#include "tenon/hir.h"
#include "tenon/lir.h"

namespace tenon {

class GraphModule {
 public:
  enum class Stage : uint8_t { Hir, Mir, Lir };

  GraphModule(std::string name, HirModule module);
  GraphModule(std::string name, Graph graph);
  GraphModule(std::string name, LirModule module);

  // What `define` makes: blocks where it takes a HirModule&, a graph where it takes a Graph&, a
  // planned module where it takes nothing and gives one. Of the former two it returns the output
  // (which is named "output"), a vector of outputs ("output_0", ...), or outputs with names.
  template <std::invocable<HirModule&> Define>
  static GraphModule define(std::string name, Define&& define) {
    return defined<HirModule>(std::move(name), std::forward<Define>(define));
  }
  template <std::invocable<Graph&> Define>
  static GraphModule define(std::string name, Define&& define) {
    return defined<Graph>(std::move(name), std::forward<Define>(define));
  }
  template <std::invocable<> Define>
  static GraphModule define(std::string name, Define&& define) {
    return {std::move(name), LirModule(std::forward<Define>(define)())};
  }

  const std::string& name() const { return name_; }
  Stage stage() const { return static_cast<Stage>(module_.index()); }

  // The module of its stage; of another one: an Error that names both.
  const HirModule& hir() const;
  const Graph& mir() const;
  const LirModule& lir() const;
  HirModule into_hir() && { return (hir(), std::get<HirModule>(std::move(module_))); }
  Graph into_mir() && { return (mir(), std::get<Graph>(std::move(module_))); }
  LirModule into_lir() && { return (lir(), std::get<LirModule>(std::move(module_))); }

 private:
  template <typename Module, typename Define>
  static GraphModule defined(std::string name, Define&& define) {
    Module module;
    module.set_outputs(named<Module>(std::forward<Define>(define)(module)));
    return {std::move(name), std::move(module)};
  }

  template <typename Module>
  static std::vector<typename Module::Output> named(std::vector<typename Module::Output> outputs) {
    return outputs;
  }
  template <typename Module, typename Value>
    requires(!std::same_as<Value, typename Module::Output>)
  static std::vector<typename Module::Output> named(const std::vector<Value>& values) {
    std::vector<typename Module::Output> outputs;
    for (const Value& value : values)
      outputs.push_back({"output_" + std::to_string(outputs.size()), value});
    return outputs;
  }
  template <typename Module, typename Value>
    requires(!requires(const Value& v) { v.begin(); })
  static std::vector<typename Module::Output> named(const Value& value) {
    return {{"output", value}};
  }

  std::string name_;
  std::variant<HirModule, Graph, LirModule> module_;
};
std::string_view to_string(GraphModule::Stage stage);

}  // namespace tenon
