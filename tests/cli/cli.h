// The `tenon` program in a folder with a model, a small encoder, and what became of calling it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tools/make_encoder/encoder_model.h"

namespace tenon {

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Cli : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::filesystem::path(testing::TempDir()) / ("tenon_cli_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(path("model.onnx"), std::ios::binary) << make_encoder::encoder_model(
        {.layers = 1, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100, .maxpos = 64});
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static std::string path(const std::string& name) { return (folder_ / name).string(); }

  static std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  // Arguments are ours: no quoting needed. `environment` is NAME=VALUE and a space, or nothing.
  static Outcome tenon(const std::string& arguments, const std::string& environment = "") {
    const std::string command = "TENON_CACHE_DIR=" + path("cache") + " " + environment +
                                TENON_BINARY_DIR + "/bin/tenon " + arguments + " >" + path("out") +
                                " 2>" + path("err");
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), contents(path("out")), contents(path("err"))};
  }

  static void expect_error(const std::string& arguments, int code, const std::string& message) {
    const Outcome outcome = tenon(arguments);
    EXPECT_EQ(outcome.code, code) << arguments;
    EXPECT_EQ(outcome.err.find("tenon: error: "), outcome.err.rfind("tenon: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  static inline std::filesystem::path folder_;
};

}  // namespace tenon
