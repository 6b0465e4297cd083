// Cases of window ops, and their comparison with the interpreter: at several extents, with memory
// larger than what is in it, on every instruction set.
#pragma once

#include <string>
#include <vector>

#include "tests/driver/run_graph.h"

namespace tenon::graph_test {

struct Windows {
  std::string name;
  Shape x, w;
  std::vector<int64_t> strides, dilations, pads;  // pads: before each axis, then after
  int64_t groups = 1;
  DType dtype = DType::F32;
};
inline std::ostream& operator<<(std::ostream& stream, const Windows& c) { return stream << c.name; }

inline std::vector<Dim> begins_of(const Windows& c) {
  return {c.pads.begin(), c.pads.begin() + static_cast<int64_t>(c.strides.size())};
}

inline std::vector<Dim> extents_of(const Windows& c, const std::vector<int64_t>& kernel) {
  std::vector<Dim> result;
  const size_t rank = c.strides.size();
  for (size_t i = 0; i < rank; ++i) {
    const Dim room = c.x[static_cast<int>(i) + 2] + c.pads[i] + c.pads[rank + i] -
                     (c.dilations[i] * (kernel[i] - 1) + 1);
    result.push_back(max(floordiv(room, c.strides[i]) + 1, 0));
  }
  return result;
}

inline std::vector<int64_t> kernel_of(const Windows& c) {
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < c.strides.size(); ++i)
    kernel.push_back(c.w[static_cast<int>(i) + 2].const_value());
  return kernel;
}

inline graph::Attributes attributes_of(const Windows& c, std::vector<Dim> extents) {
  return {{"extents", std::move(extents)},
          {"begins", begins_of(c)},
          {"strides", c.strides},
          {"dilations", c.dilations}};
}

inline void expect_interpreted(const graph::Graph& g, const std::vector<Extents>& all,
                               double tolerance = 2e-5) {
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const Extents& extents : all) {
      const Tensors inputs = random_tensors(g, extents);
      const auto expected = graph::interpret(g, inputs);
      for (const int64_t spare : {0, 3}) {
        const auto actual = compiled.run(inputs, spare);
        for (size_t i = 0; i < expected.size(); ++i) {
          expect_close(actual[i], expected[i], tolerance,
                       fmt::format("{} at {}spare {} on {}", g.outputs()[i].name, text_of(extents),
                                   spare, to_string(isa)));
        }
      }
    }
  }
}

}  // namespace tenon::graph_test
