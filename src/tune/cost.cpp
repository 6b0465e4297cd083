// See cost.h. Extents of loops inside loops are those of the first iteration: estimates.
#include "tune/cost.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tenon::tune {
namespace {

using namespace kernel;  // NOLINT(google-build-using-namespace)

class Counter {
 public:
  explicit Counter(Extents extents) : extents_(std::move(extents)) {}

  Cost run(const Block& body) {
    count(body, 1, 1);
    return std::move(cost_);
  }

 private:
  double value(const Dim& dim) const {
    return static_cast<double>(std::max<int64_t>(evaluate(dim, extents_).value_or(1), 0));
  }

  void add(std::string_view kind, double ops, double copies, double runs) {
    cost_.code += ops * copies;
    cost_.work += ops * runs;
    cost_.kinds[kind] += ops * copies;
  }

  void count(const ExprRef& value, double copies, double runs) {
    for_each(value, [&](const Expr& e) { add(info(e.op).text, 1, copies, runs); });
  }

  void count(const Block& block, double copies, double runs) {
    for (const Stmt& stmt : block)
      std::visit([&](const auto& node) { count(node, copies, runs); }, stmt.node);
  }

  void count(const Loop& loop, double copies, double runs) {
    const double extent = value(loop.extent);
    extents_[loop.symbol.name()] = 0;
    double times = loop.kind == LoopKind::Vector ? 1 : extent;
    if (loop.kind == LoopKind::Ladder) {
      extents_[loop.rows[0].name()] = loop.steps[0];
      times = extent / static_cast<double>(loop.steps[0]);
    }
    count(*loop.body, loop.kind == LoopKind::Unroll ? copies * extent : copies, runs * times);
  }

  // All of its versions are code, one of them runs.
  void count(const Specialize& specialize, double copies, double runs) {
    const std::string& name = specialize.symbol.name();
    const auto known = extents_.find(name);
    const int64_t now = known == extents_.end() ? specialize.values[0] : known->second;
    for (const int64_t each : specialize.values) {
      extents_[name] = each;
      count(*specialize.body, copies, each == now ? runs : 0);
    }
    extents_[name] = now;
  }

  void count(const Mma& mma, double copies, double runs) {
    const int64_t whole_vectors = (mma.cols + kLaneCount - 1) / kLaneCount;
    const auto vectors = static_cast<double>(whole_vectors);
    add(info(mma.step()).text, value(mma.rows) * vectors, copies, runs);
    add("load", value(mma.rows) + vectors, copies, runs);
  }

  void count(const Store& store, double copies, double runs) {
    count(store.value, copies, runs);
    add("store", 1, copies, runs);
  }
  void count(const Let& let, double copies, double runs) { count(let.value, copies, runs); }
  void count(const Prefetch&, double copies, double runs) { add("prefetch", 1, copies, runs); }
  void count(const Barrier&, double, double) {}
  void count(const Combine&, double, double) {}
  void count(const TileMma&, double, double) {}

  Extents extents_;
  Cost cost_;
};

}  // namespace

Cost cost_of(const Kernel& scheduled, const Extents& extents) {
  return Counter(extents).run(scheduled.body);
}

std::string largest_kinds(const Cost& cost) {
  constexpr size_t kShown = 3;
  std::vector<std::pair<double, std::string_view>> kinds;
  for (const auto& [kind, count] : cost.kinds) kinds.emplace_back(-count, kind);
  std::ranges::sort(kinds);
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(kinds.size(), kShown); ++i)
    texts.push_back(fmt::format("{} {:.0f}", kinds[i].second, -kinds[i].first));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace tenon::tune
