#include "driver/body_reports.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::driver {
namespace {

void add_rows(FusionReport& to, const FusionReport& from) {
  for (const FusionReport::Count& count : from.counts) {
    auto row = std::ranges::find(to.counts, count.pattern, &FusionReport::Count::pattern);
    if (row == to.counts.end()) row = to.counts.insert(row, {count.pattern});
    row->found += count.found;
    row->before += count.before;
  }
  to.missed.insert(to.missed.end(), from.missed.begin(), from.missed.end());
}

void add_rows(DispatchReport& to, const DispatchReport& from) {
  for (const auto& [op, row] : from.rows) {
    DispatchReport::Row& sum = to.rows[op];
    sum.native += row.native;
    sum.common += row.common;
    sum.rewritten += row.rewritten;
  }
}

}  // namespace

void BodyReports::add(std::string_view body, const FusionReport& of_fusion,
                      const DispatchReport& of_dispatch) {
  FusionReport named = of_fusion;
  for (FusionReport::Missed& each : named.missed)
    each.origin = fmt::format("{}/{}", body, each.origin);
  add_rows(fusion, named);
  add_rows(dispatch, of_dispatch);
}

void BodyReports::add_to(FusionReport& outer_fusion, DispatchReport& outer_dispatch) const {
  add_rows(outer_fusion, fusion);
  add_rows(outer_dispatch, dispatch);
}

}  // namespace tenon::driver
