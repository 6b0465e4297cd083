// What the tests of bad ONNX models share: small models, and an expectation about an Error's kind
// and text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "import/onnx/onnx.h"
#include "tools/make_encoder/encoder_model.h"
#include "tools/make_encoder/onnx_writer.h"

namespace tenon::onnx {

using make_encoder::kFloat;
using make_encoder::kInt64;
using make_encoder::OnnxWriter;

inline make_encoder::EncoderOptions tiny_encoder() {
  return {.layers = 1, .hidden = 8, .heads = 2, .ffn = 8, .vocab = 10, .maxpos = 8};
}

inline graph::Graph import_text(const std::string& bytes, const ImportOptions& options = {}) {
  auto owner = std::make_shared<std::string>(bytes);
  return import_bytes(std::as_bytes(std::span(*owner)), owner, "test.onnx", options);
}

template <typename Run>
void expect_error(Run run, ErrorKind kind, const std::vector<std::string>& parts) {
  try {
    run();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << error.what();
    }
  }
}

// The error of importing what the writer wrote.
inline void expect_import_error(const OnnxWriter& writer, ErrorKind kind,
                                const std::vector<std::string>& parts) {
  expect_error([&] { import_text(writer.finish()); }, kind, parts);
}

}  // namespace tenon::onnx
