// The wire format: every field that may hold a tensor's elements, packed or not, and fields the
// importer does not know.
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"

namespace tenon::onnx {
namespace {

using protozero::pbf_writer;

// A model whose one initializer is made by `fill`.
template <typename Fill>
std::string model_of(Fill fill) {
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(1, 8);
  pbf_writer graph(model, 7);
  pbf_writer tensor(graph, 5);
  tensor.add_string(8, "t");
  fill(tensor);
  tensor.commit();
  graph.commit();
  return bytes;
}

template <typename Fill>
LoadedTensor load(Fill fill) {
  const std::string bytes = model_of(fill);
  const ModelProto model = read_model(std::as_bytes(std::span(bytes)), "test.onnx");
  LoadedTensor tensor = TensorLoader(nullptr, std::nullopt).load(model.graph.initializers.at(0));
  auto copy =
      std::make_shared<std::vector<std::byte>>(tensor.data.bytes.begin(), tensor.data.bytes.end());
  tensor.data = {*copy, copy};  // outlives `bytes`
  return tensor;
}

std::vector<int64_t> integers(const LoadedTensor& tensor) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < tensor.data.bytes.size();
       i += static_cast<size_t>(size_of(tensor.type.dtype))) {
    result.push_back(load_as_i64(tensor.type.dtype, tensor.data.bytes.data() + i));
  }
  return result;
}

TEST(WireFormat, ReadsInt64DataPackedAndNot) {
  const std::vector<int64_t> values = {1, -2, 1LL << 40};
  const LoadedTensor packed = load([&](pbf_writer& t) {
    t.add_int64(1, 3);
    t.add_int32(2, 7);
    t.add_packed_int64(7, values.begin(), values.end());
  });
  EXPECT_EQ(integers(packed), values);
  const LoadedTensor loose = load([&](pbf_writer& t) {
    for (int64_t v : values) t.add_int64(7, v);  // data before type and dims: the order is free
    t.add_int32(2, 7);
    t.add_int64(1, 3);
  });
  EXPECT_EQ(integers(loose), values);
  EXPECT_EQ(loose.type.to_string(), "i64[3]");
}

TEST(WireFormat, ReadsNarrowTypesFromInt32Data) {
  const std::vector<int32_t> values = {0, 1, 255};
  const LoadedTensor u8 = load([&](pbf_writer& t) {
    t.add_int64(1, 3);
    t.add_int32(2, 2);
    t.add_packed_int32(5, values.begin(), values.end());
  });
  EXPECT_EQ(integers(u8), (std::vector<int64_t>{0, 1, 255}));
  const LoadedTensor half = load([&](pbf_writer& t) {
    t.add_int32(2, 10);
    t.add_int32(5, 0x3c00);  // 1.0
  });
  EXPECT_EQ(load_as_f64(DType::F16, half.data.bytes.data()), 1.0);
}

TEST(WireFormat, ReadsFloatAndDoubleData) {
  const std::vector<float> floats = {1.5f, -2.0f};
  const LoadedTensor f32 = load([&](pbf_writer& t) {
    t.add_int64(1, 2);
    t.add_int32(2, 1);
    t.add_packed_float(4, floats.begin(), floats.end());
  });
  EXPECT_EQ(load_as_f64(DType::F32, f32.data.bytes.data() + 4), -2.0);
  const LoadedTensor f64 = load([](pbf_writer& t) {
    t.add_int32(2, 11);
    t.add_double(10, 0.1);
  });
  EXPECT_EQ(load_as_f64(DType::F64, f64.data.bytes.data()), 0.1);
}

TEST(WireFormat, RejectsElementsThatDoNotFitTheirType) {
  EXPECT_THROW(load([](pbf_writer& t) {
                 t.add_int32(2, 2);
                 t.add_int32(5, 256);
               }),
               Error);
  EXPECT_THROW(load([](pbf_writer& t) {
                 t.add_int32(2, 1);
                 t.add_int64(7, 1);  // an f32 in int64_data
               }),
               Error);
}

TEST(WireFormat, SkipsFieldsItDoesNotKnow) {
  const LoadedTensor t = load([](pbf_writer& w) {
    w.add_string(12, "documentation");
    w.add_fixed64(400, 7);
    w.add_int32(2, 7);
    w.add_int64(7, 42);
  });
  EXPECT_EQ(integers(t), (std::vector<int64_t>{42}));
}

TEST(WireFormat, RejectsAKnownFieldOfAnotherWireType) {
  EXPECT_THROW(load([](pbf_writer& t) { t.add_fixed32(2, 1); }), Error);
}

}  // namespace
}  // namespace tenon::onnx
