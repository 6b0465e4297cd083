// From a file to a graph: inputs become symbols and tensors, initializers leaves, each node goes
// through its importer, and every error on the way gets the file and node it belongs to.
#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "import/onnx/call.h"
#include "import/onnx/model_importer.h"
#include "import/onnx/onnx.h"
#include "import/onnx/read_parts.h"

namespace tenon::onnx {
namespace {

using SymbolLimits = std::map<std::string, int64_t>;

// `bound` where the constraint says `symbol <= bound`: outright, or as symbol == min(symbol,
// bound).
std::optional<std::pair<std::string, int64_t>> upper_bound(const Constraint& fact) {
  const auto limit = [](const Dim& a, const Dim& b) -> std::optional<int64_t> {
    if (b.is_const()) return b.const_value();
    const auto terms = b.terms();
    if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1) return {};
    const Dim::Atom& atom = *terms[0].atoms[0];
    if (atom.kind != AtomKind::Min || atom.args.size() != 2) return {};
    if (atom.args[0] == a && atom.args[1].is_const()) return atom.args[1].const_value();
    if (atom.args[1] == a && atom.args[0].is_const()) return atom.args[0].const_value();
    return {};
  };
  for (const bool swap : {false, true}) {
    const Dim &a = swap ? fact.right : fact.left, &b = swap ? fact.left : fact.right;
    const bool applies = fact.kind == Constraint::Kind::AtMost ? !swap : !b.is_const();
    const auto symbol = a.as_symbol();
    if (fact.kind == Constraint::Kind::Broadcastable || !applies || !symbol) continue;
    if (const auto most = limit(a, b)) return {{symbol->name(), *most}};
  }
  return {};
}

// Learns what the constraints say about single symbols. True where that is news.
bool learn(const graph::Graph& g, SymbolLimits& limits) {
  bool news = false;
  for (const Constraint& fact : g.constraints()) {
    const auto bound = upper_bound(fact);
    if (!bound || bound->second < 1) continue;
    auto [known, added] = limits.emplace(*bound);
    news |= added || bound->second < known->second;
    known->second = std::min(known->second, bound->second);
  }
  return news;
}

// A position table of 512 rows proves seq <= 512: the import starts again with that bound, so that
// min(seq, 512) is seq from the first op on and no op has to carry the proof.
graph::Graph import_narrowing(const ModelProto& model, TensorLoader& loader,
                              const std::string& name, const ImportOptions& options) {
  SymbolLimits known;
  for (int round = 0;; ++round) {
    graph::Graph g;
    try {
      ModelImporter(model, loader, g,
                    {options.dim_bounds, known, options.free_extents, options.fixed_extents})
          .run();
      if (round == 8 || !learn(g, known)) return g;
    } catch (const Error& error) {
      if (round < 8 && learn(g, known)) continue;
      throw Error(error.kind(), fmt::format("[onnx] {}: {}", name, error.what()));
    } catch (const std::logic_error& error) {  // what no check has foreseen still ends well
      throw internal_error("[onnx] {}: {}", name, error.what());
    }
  }
}

graph::Graph import_with(std::span<const std::byte> bytes, TensorLoader loader,
                         const std::string& name, const ImportOptions& options) {
  const ModelProto model = read_model(bytes, name);
  return import_narrowing(model, loader, name, options);
}

}  // namespace

graph::Graph import_file(const std::string& path, const ImportOptions& options) {
  const graph::Data file = map_file(path);
  return import_with(file.bytes,
                     TensorLoader(file.owner, std::filesystem::path(path).parent_path()), path,
                     options);
}

graph::Graph import_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string& name, const ImportOptions& options) {
  return import_with(bytes, TensorLoader(std::move(owner), std::nullopt), name, options);
}

NamedTensor read_tensor_file(const std::string& path) {
  const graph::Data file = map_file(path);
  try {
    std::string_view name;
    const std::string_view bytes(reinterpret_cast<const char*>(file.bytes.data()),
                                 file.bytes.size());
    const LoadedTensor loaded = TensorLoader(file.owner, std::filesystem::path(path).parent_path())
                                    .load(read_tensor(bytes, name));
    NamedTensor result{std::string(name), {loaded.type.dtype, {}, {}}};
    for (const Dim& extent : loaded.type.shape) {
      result.tensor.shape.push_back(extent.const_value());
    }
    result.tensor.bytes.assign(loaded.data.bytes.begin(), loaded.data.bytes.end());
    return result;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("[onnx] {}: {}", path, error.what()));
  }
}

}  // namespace tenon::onnx
