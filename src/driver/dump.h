// TENON_DUMP: every stage of a compile as a text file, in a folder of its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "driver/options.h"

namespace tenon::driver {

// Writes each text it is given to FOLDER/NNN-NAME/MMM-stage.txt. NNN is one more than any that is
// there when the first text comes, so that no compile overwrites what another one left, whichever
// process it is of; MMM is the order. A stage "body0/simplify" goes to a folder body0, in which
// numbers begin anew. What cannot be written is a User error that names it.
std::function<void(std::string_view stage, const std::string& text)> dump_to_folder(
    const std::string& folder, std::string_view name);

// The options, with a dump to the folder that TENON_DUMP names where they have none.
Options with_dump(Options options);

}  // namespace tenon::driver
