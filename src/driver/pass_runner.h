// Runs one pass of the compiler: skips it by name, times it, verifies and dumps what it made.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "driver/pipeline.h"

namespace tenon::driver {

class PassRunner {
 public:
  PassRunner(const Options& options, std::vector<PassTime>& times)
      : options_(options), times_(times) {}

  bool skips(std::string_view name) const;

  // A pass from graph to graph.
  graph::Graph operator()(std::string_view name,
                          FunctionRef<graph::Graph(const graph::Graph&)> pass,
                          graph::Graph graph) const;

  // Any other stage.
  template <typename Stage>
  auto timed(std::string_view name, Stage&& stage) const {
    const auto start = std::chrono::steady_clock::now();
    auto result = std::forward<Stage>(stage)();
    record(name, start);
    return result;
  }

  void dump(std::string_view name, const std::function<std::string()>& text) const {
    if (options_.dump) options_.dump(name, text());
  }

 private:
  void record(std::string_view name, std::chrono::steady_clock::time_point start) const;

  const Options& options_;
  std::vector<PassTime>& times_;
};

}  // namespace tenon::driver
