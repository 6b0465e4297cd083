// TENON_DUMP: every stage of a compile as a text file, numbered in the order of the pipeline.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tenon::driver {

// Writes FOLDER/NNN-stage.txt for each text it is given; makes the folder. What cannot be written
// is a User error that names the file.
std::function<void(std::string_view stage, const std::string& text)> dump_to_folder(
    const std::string& folder);

}  // namespace tenon::driver
