// Encodes the messages with protozero. Field numbers are those of onnx.proto, written out here a
// second time on purpose: the importer's table is tested against these.
#include "tools/make_encoder/onnx_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <stdexcept>

namespace tenon::make_encoder {

using protozero::pbf_writer;

void OnnxWriter::value_info(uint32_t field, const std::string& name, int type,
                            const std::vector<Dimension>& dims) {
  pbf_writer graph(graph_);
  pbf_writer info(graph, field);
  info.add_string(1, name);
  pbf_writer type_message(info, 2);
  pbf_writer tensor(type_message, 1);
  tensor.add_int32(1, type);
  // Encoded apart: a nested writer leaves out messages that are empty, but a scalar's shape is one.
  std::string shape_bytes;
  pbf_writer shape(shape_bytes);
  for (const Dimension& dim : dims) {
    std::string dimension_bytes;
    pbf_writer dimension(dimension_bytes);
    if (const auto* value = std::get_if<int64_t>(&dim)) dimension.add_int64(1, *value);
    const auto* param = std::get_if<std::string>(&dim);
    if (param && !param->empty()) dimension.add_string(2, *param);
    shape.add_message(1, dimension_bytes);
  }
  tensor.add_message(2, shape_bytes);
}

void OnnxWriter::input(const std::string& name, int type, const std::vector<Dimension>& dims) {
  value_info(11, name, type, dims);
}

void OnnxWriter::output(const std::string& name, int type, const std::vector<Dimension>& dims) {
  value_info(12, name, type, dims);
}

void OnnxWriter::untyped_output(const std::string& name) {
  pbf_writer graph(graph_);
  pbf_writer info(graph, 12);
  info.add_string(1, name);
}

namespace {

void add_attribute(pbf_writer& message, uint32_t field, const Attribute& attribute) {
  enum Type { Float = 1, Int = 2, String = 3, Tensor = 4, Graph = 5, Floats = 6, Ints = 7 };
  pbf_writer a(message, field);
  a.add_string(1, attribute.name);
  if (const auto* f = std::get_if<float>(&attribute.value)) {
    a.add_float(2, *f);
    a.add_int32(20, Float);
  } else if (const auto* i = std::get_if<int64_t>(&attribute.value)) {
    a.add_int64(3, *i);
    a.add_int32(20, Int);
  } else if (const auto* s = std::get_if<std::string>(&attribute.value)) {
    a.add_string(4, *s);
    a.add_int32(20, String);
  } else if (const auto* t = std::get_if<Int64Vector>(&attribute.value)) {
    {
      pbf_writer tensor(a, 5);
      tensor.add_int64(1, static_cast<int64_t>(t->values.size()));
      tensor.add_int32(2, kInt64);
      tensor.add_packed_int64(7, t->values.begin(), t->values.end());
    }
    a.add_int32(20, Tensor);
  } else if (const auto* g = std::get_if<GraphBytes>(&attribute.value)) {
    a.add_message(6, g->bytes);
    a.add_int32(20, Graph);
  } else if (const auto* reference = std::get_if<AttributeReference>(&attribute.value)) {
    a.add_string(21, reference->name);
    a.add_int32(20, Int);
  } else if (const auto* floats = std::get_if<std::vector<float>>(&attribute.value)) {
    for (float value : *floats) a.add_float(7, value);
    a.add_int32(20, Floats);
  } else {
    for (int64_t i : std::get<std::vector<int64_t>>(attribute.value)) a.add_int64(8, i);
    a.add_int32(20, Ints);
  }
}

}  // namespace

void OnnxWriter::raw_node(const std::string& name, const std::string& op,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs,
                          const std::vector<Attribute>& attributes, const std::string& domain) {
  pbf_writer graph(graph_);
  pbf_writer node(graph, 1);
  for (const std::string& input : inputs) node.add_string(1, input);
  for (const std::string& output : outputs) node.add_string(2, output);
  if (!name.empty()) node.add_string(3, name);
  node.add_string(4, op);
  for (const Attribute& attribute : attributes) add_attribute(node, 5, attribute);
  if (!domain.empty()) node.add_string(7, domain);
}

std::string OnnxWriter::node(const std::string& op, const std::vector<std::string>& inputs,
                             const std::vector<Attribute>& attributes, const std::string& domain) {
  std::string name = op + "_" + std::to_string(++count_);
  raw_node(name, op, inputs, {name}, attributes, domain);
  return name;
}

std::vector<std::string> OnnxWriter::nodes(const std::string& op,
                                           const std::vector<std::string>& inputs, int outputs,
                                           const std::vector<Attribute>& attributes,
                                           const std::string& domain) {
  const std::string name = op + "_" + std::to_string(++count_);
  std::vector<std::string> results;
  for (int i = 0; i < outputs; ++i) results.push_back(name + "_o" + std::to_string(i));
  raw_node(name, op, inputs, results, attributes, domain);
  return results;
}

std::string OnnxWriter::tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                               std::string_view raw) {
  if (!initializers_.insert(name).second) return name;
  pbf_writer graph(graph_);
  pbf_writer tensor(graph, 5);
  tensor.add_packed_int64(1, dims.begin(), dims.end());
  tensor.add_int32(2, type);
  tensor.add_string(8, name);
  tensor.add_bytes(9, raw.data(), raw.size());
  return name;
}

std::string OnnxWriter::floats(const std::string& name, const std::vector<int64_t>& dims,
                               std::span<const float> values) {
  if (float_type_ == kFloat && !short_floats_) {
    return tensor(name, kFloat, dims,
                  {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  std::vector<uint16_t> narrow;
  std::vector<float> wide;
  for (const float value : values) {
    const auto bits = std::bit_cast<uint32_t>(value);
    narrow.push_back(static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
    wide.push_back(std::bit_cast<float>(uint32_t{narrow.back()} << 16));
  }
  if (float_type_ == kFloat) {
    return tensor(name, kFloat, dims,
                  {reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(float)});
  }
  return tensor(name, kBfloat16, dims,
                {reinterpret_cast<const char*>(narrow.data()), narrow.size() * sizeof(uint16_t)});
}

std::string OnnxWriter::int64s(const std::string& name, const std::vector<int64_t>& dims,
                               const std::vector<int64_t>& values) {
  return tensor(name, kInt64, dims,
                {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t)});
}

void OnnxWriter::function(const Function& function, const OnnxWriter& body) {
  pbf_writer model(functions_);
  pbf_writer f(model, 25);
  f.add_string(1, function.name);
  for (const std::string& input : function.inputs) f.add_string(4, input);
  for (const std::string& output : function.outputs) f.add_string(5, output);
  for (const std::string& attribute : function.attributes) f.add_string(6, attribute);
  for (protozero::pbf_reader graph(body.graph_); graph.next(1);) f.add_message(7, graph.get_view());
  for (const auto& [domain, version] : body.opsets_) {
    pbf_writer opset(f, 9);
    if (!domain.empty()) opset.add_string(1, domain);
    opset.add_int64(2, version);
  }
  f.add_string(10, function.domain);
  for (const Attribute& attribute : function.defaults) add_attribute(f, 11, attribute);
}

std::string OnnxWriter::finish() const {
  std::string bytes;
  bytes.reserve(graph_.size() + 4096);
  pbf_writer model(bytes);
  model.add_int64(1, 8);  // IR version
  model.add_string(2, "tenon make_encoder");
  for (const auto& [domain, version] : opsets_) {
    pbf_writer opset(model, 8);
    if (!domain.empty()) opset.add_string(1, domain);
    opset.add_int64(2, version);
  }
  std::string name;
  pbf_writer(name).add_string(2, "encoder");
  model.add_bytes_vectored(7, graph_, name);
  return bytes + functions_;
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  const auto fail = [&](const char* what) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    throw std::runtime_error(std::string(what) + " " + path + ": " + reason);
  };
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail("cannot create");
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ::close(fd);
      fail("cannot write");
    }
    done += static_cast<size_t>(written);
  }
  if (::close(fd) != 0) fail("cannot write");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot rename to");
}

}  // namespace tenon::make_encoder
