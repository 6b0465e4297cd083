// See compile_key.h.
#include "api/compile_key.h"

#include <fmt/ranges.h>

#include "api/driver_options.h"
#include "api/option_texts.h"
#include "api/tuned.h"
#include "compiled/device_id.h"
#include "driver/target_key.h"
#include "program/artifact_header.h"
#include "tenon/version.h"

namespace tenon {
namespace {

std::string describe(const graph::Value& value, const std::string& name) {
  return fmt::format("{} {}", name, value.type().to_string());
}

std::string inputs_of(const graph::Graph& graph) {
  std::vector<std::string> texts;
  for (const graph::Value& input : graph.inputs())
    texts.push_back(describe(input, input.node->name()));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string outputs_of(const graph::Graph& graph) {
  std::vector<std::string> texts;
  for (const graph::Output& output : graph.outputs())
    texts.push_back(describe(output.value, output.name));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string symbols_of(const graph::Graph& graph) {
  std::vector<std::string> texts;
  for (const auto& [name, symbol] : graph.symbols())
    texts.push_back(fmt::format("{} {}..{}", name, symbol.bounds().lo, symbol.bounds().hi));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Programs list all of them, those that nothing reads too.
Digest params_of(const graph::Graph& graph) {
  Hasher hasher;
  for (const graph::Value& param : graph.params())
    hasher.text(param.node->name()).text(param.type().to_string());
  return hasher.finish();
}

// Programs name them in errors and traces.
Digest origins_of(const graph::Graph& graph) {
  Hasher hasher;
  for (const graph::Node* node : graph.topological()) hasher.text(graph.origin(node));
  return hasher.finish();
}

// Fields are for people: of a long one its beginning and its digest.
std::string field(std::string text) {
  constexpr size_t kMost = 4096;
  if (text.size() <= kMost) return text;
  const Digest digest = digest_of(text);
  text.resize(kMost);
  return text + "... " + digest.hex();
}

// What is in the graph already, or decides nothing about code.
bool is_elsewhere(const std::string& option) {
  return option == "threads" || option == "device" || option == "specialize" || option == "tuned" ||
         option.starts_with("dim_");
}

}  // namespace

cache::KeyFields compile_key(KeyOf kind, const graph::Graph& graph, const driver::Options& how,
                             const CompileOptions& options) {
  cache::KeyFields key;
  key.add("kind", kind == KeyOf::Graph ? "graph" : "optimized")
      .add("format", fmt::to_string(program::ArtifactHeader::kVersion));
  key.add("device", program::name_of(device_id(device_of(options)).kind));
  key.add("tenon", TENON_VERSION_STRING);
  driver::add_target(key, how);
  add_tuning(key, options, how);
  for (const auto& [name, text] : option_texts(options)) {
    if (!is_elsewhere(name)) key.add(name, field(text));
  }
  std::vector<std::string> marked;
  for (const auto& [input, axis] : how.bucket_axes)
    marked.push_back(fmt::format("{} {}", input, axis));
  key.add("bucket_axes", field(fmt::format("{}", fmt::join(marked, ", "))));
  key.add("bucket_axes_guessed", how.bucket_axes_guessed ? "1" : "0");
  key.add("inputs", field(inputs_of(graph))).add("outputs", field(outputs_of(graph)));
  key.add("symbols", field(symbols_of(graph))).add("params", params_of(graph).hex());
  key.add("origins", origins_of(graph).hex());
  return key.add("graph", graph::digest(graph).hex());
}

}  // namespace tenon
