// See failed_graph.h.
#include "driver/failed_graph.h"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/knobs.h"
#include "graph/literal.h"
#include "graph/marked_text.h"

namespace tenon::driver {

namespace {

// As tools/replay/case.h reads it: a line with the extents to run with, then the graph.
std::string text_of(const graph::Graph& graph, const graph::BucketAxes& marked) {
  constexpr int64_t kExtent = 4;  // where the bounds allow it
  std::string text = "case seed=1";
  for (const auto& [name, symbol] : graph.symbols()) {
    const auto [least, most] = symbol.bounds();
    text += fmt::format(" {}={}", graph::name_or_quoted(name),
                        std::min(std::max(kExtent, least), most));
  }
  return text + "\n" + graph::print(graph, marked);
}

std::filesystem::path folder() {
  if (knobs().dump.empty()) return std::filesystem::temp_directory_path();
  std::filesystem::create_directories(knobs().dump);
  return knobs().dump;
}

// A sentence that says where the graph is, or why it is nowhere.
std::string saved(const graph::Graph& graph, const graph::BucketAxes& marked) {
  try {
    const std::string name = fmt::format("tenon-failed-{:016x}.txt", digest(graph).prefix());
    const std::string path = (folder() / name).string();
    write_atomically(path, text_of(graph, marked));
    return fmt::format("the graph is saved: tenon replay {}", path);
  } catch (const std::exception& error) {  // the first error is the one that counts
    return fmt::format("the graph could not be saved: {}", error.what());
  }
}

}  // namespace

Compiled compile_or_save(const graph::Graph& source, const Options& options) {
  try {
    return compile(source, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Internal) throw;
    throw internal_error("{}\n{}", error.what(), saved(source, options.bucket_axes));
  }
}

}  // namespace tenon::driver
