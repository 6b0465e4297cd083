// Tensors whose bytes lie in another file: mapped from the model's own folder, and from nowhere
// else.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "import/onnx/tensors.h"

namespace tenon::onnx {
namespace {

namespace fs = std::filesystem;

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tenon_external_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "model");
    write(folder_ / "model" / "weights.bin", "skipABCD");
    write(folder_ / "secret", "ABCD");
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  LoadedTensor load(const std::string& location, const std::string& offset,
                    const std::string& length) {
    TensorProto tensor;
    tensor.name = "t";
    tensor.data_type = 2;  // u8
    tensor.dims = {4};
    tensor.is_external = true;
    tensor.external = {{"location", location}, {"offset", offset}, {"length", length}};
    return TensorLoader(nullptr, folder_ / "model").load(tensor);
  }

  std::string error_of(const std::string& location, const std::string& offset,
                       const std::string& length) {
    try {
      load(location, offset, length);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(ExternalData, IsReadAtItsOffset) {
  const LoadedTensor tensor = load("weights.bin", "4", "4");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(tensor.data.bytes.data()), 4), "ABCD");
}

TEST_F(ExternalData, OutsideTheModelsFolderIsRefused) {
  fs::create_symlink(folder_ / "secret", folder_ / "model" / "link");
  for (const std::string& location :
       {std::string("../secret"), (folder_ / "secret").string(), std::string("link")}) {
    EXPECT_NE(error_of(location, "0", "4").find("outside"), std::string::npos) << location;
  }
}

TEST_F(ExternalData, ThatEndsTooEarlyOrIsMissingIsAnError) {
  EXPECT_NE(error_of("weights.bin", "6", "4").find("ends at byte 8"), std::string::npos);
  EXPECT_NE(error_of("weights.bin", "-1", "4").find("bad offset"), std::string::npos);
  EXPECT_NE(error_of("weights.bin", "0", "8").find("needs 4 bytes"), std::string::npos);
  EXPECT_NE(error_of("absent.bin", "0", "4").find("cannot open"), std::string::npos);
}

}  // namespace
}  // namespace tenon::onnx
