// One pass over a model: symbols, inputs, initializers, nodes, outputs, in this order. The nodes
// are Scope's work; this is what a model has and its inner graphs have not.
#pragma once

#include <string>
#include <utility>

#include "import/onnx/scope.h"
#include "import/onnx/symbols.h"

namespace tenon::onnx {

class ModelImporter {
 public:
  // Builds on `g`, which must be empty. On an error `g` keeps what was built: its constraints are
  // facts all the same.
  ModelImporter(const ModelProto& model, TensorLoader& loader, graph::Graph& g, SymbolRules rules)
      : graph_(model.graph),
        import_{model, loader, Functions(model.functions)},
        opsets_(read_opsets(model.opsets)),
        frame_(g),
        scope_(import_, frame_, opsets_),
        symbols_(std::move(rules)) {}

  void run();

 private:
  void declare_inputs();
  void import_outputs();
  void check_declared(const ValueInfoProto& declared, Value value);

  const GraphProto& graph_;
  Import import_;
  Opsets opsets_;
  Frame frame_;
  Scope scope_;
  Symbols symbols_;
};

// All ops that no importer and no function knows, of every inner graph and every function that is
// called: one Unsupported error, each op with its count and first nodes.
void check_ops_known(const ModelProto& model, const Functions& functions, const Opsets& opsets);

}  // namespace tenon::onnx
