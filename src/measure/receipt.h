// From what was observed and what the machine does at best to the receipts of kernels.
#pragma once

#include "measure/run_profile.h"
#include "tenon/receipt.h"

namespace tenon::measure {

// Kernels, their times and floors; what the whole run takes is the caller's.
RunReceipt make_receipt(const RunProfile& profile, const MachineLimits& before,
                        const MachineLimits& after);

double median(std::vector<double> values);  // 0 of none

}  // namespace tenon::measure
