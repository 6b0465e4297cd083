// Options as text, each under its name: to compare them, and to tell people which differ.
#pragma once

#include <map>
#include <string>

#include "tenon/compile_options.h"

namespace tenon {

using OptionTexts = std::map<std::string, std::string>;

// As what they stand for: with what the profile, the defaults and the environment say. Those that
// only say how the compile is logged or kept are left out.
OptionTexts option_texts(const CompileOptions& options);

}  // namespace tenon
