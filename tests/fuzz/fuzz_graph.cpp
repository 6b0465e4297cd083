// Any text through the reader of the graph's text form: it gives a graph or a User error; what was
// read prints to the same graph again, and the interpreter runs it or says what is wrong.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/run_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tenon::fuzz::expect_no_internal_error([&] {
    const tenon::graph::Graph g = tenon::graph::parse(text);
    tenon::graph::verify(g);
    if (digest(tenon::graph::parse(print(g))) != digest(g)) {
      throw tenon::internal_error("the text of a graph reads as another graph");
    }
    tenon::fuzz::run_graph(g);
  });
  return 0;
}
