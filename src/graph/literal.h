// Literals of the graph's text form: strings, names, numbers and the elements of constants, written
// so that every bit survives (NaN payloads, infinities, -0).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/dtype.h"

namespace tenon::graph {

bool is_identifier(std::string_view text);  // [A-Za-z_][A-Za-z0-9_.]*
std::string quoted(std::string_view text);  // "a \"b\" \x0a"
std::string name_or_quoted(std::string_view text);

// A few elements as numbers where that is exact, otherwise all bytes as 0x...
std::string print_elements(DType dtype, std::span<const std::byte> bytes);
// One number as print_elements writes it, appended to `bytes`; false where the text is none of this
// dtype.
bool parse_element(DType dtype, std::string_view text, std::vector<std::byte>& bytes);
// "0x0102..."; nullopt where it is not whole bytes of hexadecimal digits.
std::optional<std::vector<std::byte>> parse_hex(std::string_view text);

}  // namespace tenon::graph
