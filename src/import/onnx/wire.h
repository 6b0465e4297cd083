// One step through a protobuf message with the field table at hand: protozero does the decoding,
// this adds what it leaves to its caller, so that hostile bytes reach no assert: wire types, name
// lengths, and what was being read.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "import/onnx/proto.h"

namespace tenon::onnx {

class WireReader {
 public:
  explicit WireReader(protozero::data_view bytes, Message message)
      : reader_(bytes), message_(message) {}

  // Steps to the next field of the table, skipping others. False at the end. A wrong wire type is a
  // User error.
  bool next();
  uint32_t field() const { return reader_.tag(); }

  void skip() { reader_.skip(); }
  int64_t integer() { return reader_.get_int64(); }
  float number() { return reader_.get_float(); }
  std::string_view bytes();
  std::string_view text();  // of at most kNameBytes
  WireReader message(Message inner) { return WireReader{reader_.get_view(), inner}; }

  // Appends the numbers of a repeated field, packed or not.
  void integers(std::vector<int64_t>& into);
  void floats(std::vector<float>& into);
  void doubles(std::vector<double>& into);

 private:
  bool packed() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }

  protozero::pbf_reader reader_;
  Message message_;
};

std::string_view to_string(Message message);

}  // namespace tenon::onnx
