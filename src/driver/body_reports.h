// The reports of a graph count what is in the bodies of its branches and loops, too.
#pragma once

#include <string_view>

#include "tenon/dispatch.h"
#include "tenon/fusion_report.h"

namespace tenon::driver {

// What was done to bodies. Origins have the body's name in front: "body0/layer 3".
struct BodyReports {
  FusionReport fusion;
  DispatchReport dispatch;

  void add(std::string_view body, const FusionReport& fusion, const DispatchReport& dispatch);
  void add_to(FusionReport& outer_fusion, DispatchReport& outer_dispatch) const;
};

}  // namespace tenon::driver
