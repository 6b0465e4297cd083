// A text as JSON writes it: in quotes, with what JSON does not allow inside of them escaped.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

std::string json_text(std::string_view text);

}  // namespace tenon
