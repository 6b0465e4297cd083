// The wrapper that every pass goes through.
#include "driver/pass_runner.h"

#include <algorithm>

#include "base/log.h"
#include "base/trace.h"

namespace tenon::driver {

bool PassRunner::skips(std::string_view name) const {
  return std::ranges::find(options_.skip, name) != options_.skip.end();
}

graph::Graph PassRunner::operator()(std::string_view name,
                                    FunctionRef<graph::Graph(const graph::Graph&)> pass,
                                    graph::Graph graph) const {
  if (skips(name)) return graph;
  graph::Graph result = timed(name, [&] { return pass(graph); });
#ifdef TENON_VERIFY
  graph::verify(result);
#endif
  dump(name, [&] { return graph::print(result); });
  return result;
}

void PassRunner::record(std::string_view name, std::chrono::steady_clock::time_point start) const {
  const auto end = std::chrono::steady_clock::now();
  const std::chrono::duration<double, std::milli> elapsed = end - start;
  times_.push_back({std::string(name), elapsed.count()});
  log(LogLevel::Debug, "{}: {} took {:.2f} ms", options_.name, name, elapsed.count());
  if (tracing()) trace_event("pass", name, options_.name, start, end);
}

}  // namespace tenon::driver
