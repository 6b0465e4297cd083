// Tensors that lie about themselves: missing bytes, negative or overflowing dims, element types
// nobody has.
#include <gtest/gtest.h>

#include "tests/errors/onnx_models.h"

namespace tenon::onnx {
namespace {

void expect_tensor_error(int type, const std::vector<int64_t>& dims, const std::string& raw,
                         ErrorKind kind, const std::vector<std::string>& parts) {
  OnnxWriter w({{"", 14}});
  w.input("x", kFloat, {"batch", 4});
  w.tensor("weights", type, dims, raw);
  w.raw_node("n", "Add", {"x", "weights"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, kind, parts);
}

TEST(OnnxTensor, WithMissingBytesSaysHowManyItNeeds) {
  expect_tensor_error(kFloat, {4}, std::string(12, '\0'), ErrorKind::User,
                      {"test.onnx", "'weights'", "f32[4]", "16 bytes", "12"});
}

TEST(OnnxTensor, WithTooManyBytesIsRejected) {
  expect_tensor_error(kFloat, {4}, std::string(20, '\0'), ErrorKind::User, {"'weights'", "20"});
}

TEST(OnnxTensor, WithANegativeDimIsRejected) {
  expect_tensor_error(kFloat, {-4}, std::string(16, '\0'), ErrorKind::User,
                      {"'weights'", "negative dim -4"});
}

TEST(OnnxTensor, WhoseDimsOverflowIsRejected) {
  const int64_t huge = int64_t{1} << 40;
  expect_tensor_error(kFloat, {huge, huge}, "", ErrorKind::User, {"'weights'", "overflow"});
  expect_tensor_error(kFloat, {huge, huge, 0, 1}, "1234", ErrorKind::User, {"'weights'"});
}

TEST(OnnxTensor, OfAnUnknownElementTypeIsRejected) {
  expect_tensor_error(99, {4}, std::string(16, '\0'), ErrorKind::Unsupported,
                      {"'weights'", "type 99"});
}

TEST(OnnxTensor, OfRankBeyondTheLimitIsRejected) {
  expect_tensor_error(kFloat, std::vector<int64_t>(40, 1), "1234", ErrorKind::User,
                      {"test.onnx", "initializer 0", "32 dims"});
}

TEST(OnnxInput, WithANegativeExtentIsRejected) {
  OnnxWriter w({{"", 14}});
  w.input("x", kFloat, {int64_t{-3}});
  w.raw_node("n", "Relu", {"x"}, {"y"});
  w.output("y", kFloat, {"n"});
  expect_import_error(w, ErrorKind::User, {"'x'", "-3"});
}

}  // namespace
}  // namespace tenon::onnx
