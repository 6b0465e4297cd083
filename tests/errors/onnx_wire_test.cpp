// Bytes that are no ONNX model, or only part of one: a clear Error, never a crash.
#include <gtest/gtest.h>

#include <string>

#include "tests/errors/onnx_models.h"

namespace tenon::onnx {
namespace {

TEST(OnnxBytes, TruncatedAnywhereGiveAnErrorOrAModelNeverACrash) {
  const std::string whole = make_encoder::encoder_model(tiny_encoder());
  for (size_t length = 0; length < whole.size(); length += 97) {
    const auto owner = std::make_shared<std::string>(whole.substr(0, length));
    try {
      import_bytes(std::as_bytes(std::span(*owner)), owner, "cut.onnx");
      ADD_FAILURE() << "a model cut at byte " << length << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.what();
      EXPECT_NE(std::string(error.what()).find("cut.onnx"), std::string::npos) << error.what();
    }
  }
}

TEST(OnnxBytes, DamagedAnywhereGiveAnErrorOrAModelNeverACrash) {
  const std::string whole = make_encoder::encoder_model(tiny_encoder());
  for (size_t at = 0; at < whole.size(); at += 61) {
    auto owner = std::make_shared<std::string>(whole);
    (*owner)[at] = static_cast<char>((*owner)[at] ^ 0x55);
    try {
      import_bytes(std::as_bytes(std::span(*owner)), owner, "damaged.onnx");
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << "byte " << at << ": " << error.what();
    }
  }
}

TEST(OnnxBytes, OfGarbageNameTheFile) {
  for (const std::string& garbage : {std::string("hello, world"), std::string(1000, '\xff'),
                                     std::string("PK\x03\x04 a zip file"), std::string()}) {
    expect_error([&] { import_text(garbage); }, ErrorKind::User, {"test.onnx"});
  }
}

TEST(OnnxBytes, WithNamesThatAreNotUtf8AreRejected) {
  const std::vector<std::string> bad = {
      "\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82"};
  for (const std::string& name : bad) {
    OnnxWriter w({{"", 14}});
    w.input(name, kFloat, {2});
    w.untyped_output(w.node("Relu", {name}));
    expect_import_error(w, ErrorKind::User, {"not UTF-8"});
  }
  OnnxWriter w({{"", 14}});
  w.input("\xce\xb1\xf0\x9f\x8c\xb1", kFloat, {2});
  w.untyped_output(w.node("Relu", {"\xce\xb1\xf0\x9f\x8c\xb1"}));
  import_text(w.finish());
}

TEST(OnnxBytes, WithNamesBeyondTheLimitAreRejected) {
  OnnxWriter w({{"", 14}});
  w.input(std::string(100'000, 'x'), kFloat, {2});
  expect_import_error(w, ErrorKind::User, {"a name of 100000 bytes"});
}

TEST(OnnxBytes, WithMoreOfAThingThanTheLimitAreRejected) {
  OnnxWriter w({{"", 14}});
  for (int i = 0; i <= 100'000; ++i) w.untyped_output("y");
  expect_import_error(w, ErrorKind::User, {"more than 100000 graph inputs or outputs"});
}

TEST(OnnxFile, ThatDoesNotExistIsNamed) {
  expect_error([] { import_file("/nonexistent/model.onnx"); }, ErrorKind::User,
               {"/nonexistent/model.onnx", "No such file"});
  expect_error([] { import_file("/tmp"); }, ErrorKind::User, {"/tmp"});
}

}  // namespace
}  // namespace tenon::onnx
