// Whether a cache may give what it compiled before: only for the options that it was compiled by.
#pragma once

#include <string>

#include "tenon/compile_options.h"

namespace tenon {

// Written alike, which is what a hit pays for.
bool are_given_alike(const CompileOptions& a, const CompileOptions& b);

// Empty where both compile a model to the same code. Else what differs: `threads 1, now 2; dispatch
// prefer-native, now force-common`. What is left out counts as what it stands for; verbosity and
// name decide nothing. An Error where options are no good themselves.
std::string differing_options(const CompileOptions& before, const CompileOptions& now);

}  // namespace tenon
