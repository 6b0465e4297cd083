// The field table as an array indexed by message and number, and the checks that come before each
// protozero call.
#include "import/onnx/wire.h"

#include <array>

namespace tenon::onnx {
namespace {

using protozero::pbf_wire_type;

constexpr int kMessages = static_cast<int>(Message::Function) + 1;
constexpr int kFields = 32;
using FieldTable = std::array<std::array<Wire, kFields>, kMessages>;

constexpr FieldTable make_field_table() {
  FieldTable table{};
#define FIELD(message, name, number, wire) \
  table[static_cast<size_t>(Message::message)][number] = Wire::wire;
#include "import/onnx/proto.def"
#undef FIELD
  return table;
}
constexpr FieldTable kFieldTable = make_field_table();

Wire wire_of(Message message, uint32_t field) {
  return field < kFields ? kFieldTable[static_cast<size_t>(message)][field] : Wire::Unknown;
}

bool fits(Wire wire, pbf_wire_type found) {
  switch (wire) {
    case Wire::Varint:
      return found == pbf_wire_type::varint;
    case Wire::Fixed32:
      return found == pbf_wire_type::fixed32;
    case Wire::Bytes:
      return found == pbf_wire_type::length_delimited;
    case Wire::Varints:
      return found == pbf_wire_type::varint || found == pbf_wire_type::length_delimited;
    case Wire::Fixed32s:
      return found == pbf_wire_type::fixed32 || found == pbf_wire_type::length_delimited;
    case Wire::Fixed64s:
      return found == pbf_wire_type::fixed64 || found == pbf_wire_type::length_delimited;
    case Wire::Unknown:
      return false;
  }
  return false;
}

template <typename Range, typename T>
void append(Range range, std::vector<T>& into) {
  for (auto it = range.begin(); it != range.end(); ++it) into.push_back(*it);
}

// How many bytes the UTF-8 sequence at the front takes; 0 where there is none. Overlong forms,
// surrogates and numbers beyond U+10FFFF are none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return second >= least && second <= most ? length : 0;
}

void check_utf8(std::string_view text, Message message) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      throw user_error("a name in a {} message is not UTF-8: byte {} is 0x{:02x}",
                       to_string(message), at, static_cast<unsigned char>(text[at]));
    }
    at += length;
  }
}

}  // namespace

bool WireReader::next() {
  while (reader_.next()) {
    Wire wire = wire_of(message_, reader_.tag());
    if (wire == Wire::Unknown) {
      reader_.skip();
      continue;
    }
    if (!fits(wire, reader_.wire_type())) {
      throw user_error("field {} of a {} message has wire type {}, which it never has in ONNX",
                       reader_.tag(), to_string(message_), static_cast<int>(reader_.wire_type()));
    }
    return true;
  }
  return false;
}

std::string_view WireReader::bytes() {
  protozero::data_view view = reader_.get_view();
  return {view.data(), view.size()};
}

std::string_view WireReader::text() {
  std::string_view text = bytes();
  if (text.size() > limits::kNameBytes) {
    throw user_error("a name of {} bytes in a {} message; at most {} are allowed", text.size(),
                     to_string(message_), limits::kNameBytes);
  }
  check_utf8(text, message_);
  return text;
}

void WireReader::integers(std::vector<int64_t>& into) {
  if (packed()) return append(reader_.get_packed_int64(), into);
  into.push_back(reader_.get_int64());
}

void WireReader::floats(std::vector<float>& into) {
  if (packed()) return append(reader_.get_packed_float(), into);
  into.push_back(reader_.get_float());
}

void WireReader::doubles(std::vector<double>& into) {
  if (packed()) return append(reader_.get_packed_double(), into);
  into.push_back(reader_.get_double());
}

std::string_view to_string(Message message) {
  static constexpr std::string_view kNames[] = {"model",
                                                "opset",
                                                "graph",
                                                "node",
                                                "attribute",
                                                "tensor",
                                                "external data entry",
                                                "value info",
                                                "type",
                                                "tensor type",
                                                "tensor shape",
                                                "dimension",
                                                "function"};
  static_assert(std::size(kNames) == kMessages);
  return kNames[static_cast<size_t>(message)];
}

}  // namespace tenon::onnx
