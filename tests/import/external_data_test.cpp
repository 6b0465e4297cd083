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

  static TensorProto four_bytes() {
    TensorProto tensor;
    tensor.name = "t";
    tensor.data_type = 2;  // u8
    tensor.dims = {4};
    tensor.is_external = true;
    tensor.external = {{"location", "weights.bin"}, {"offset", "4"}};
    return tensor;
  }

  LoadedTensor load(const TensorProto& tensor) {
    return TensorLoader(nullptr, folder_ / "model").load(tensor);
  }

  LoadedTensor load(const std::string& location, const std::string& offset,
                    const std::string& length) {
    TensorProto tensor = four_bytes();
    tensor.external = {{"location", location}, {"offset", offset}, {"length", length}};
    return load(tensor);
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

TEST_F(ExternalData, WithoutLengthIsAsLongAsTheTensor) {
  TensorProto tensor = four_bytes();
  tensor.dims = {2};
  const LoadedTensor loaded = load(tensor);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(loaded.data.bytes.data()),
                        loaded.data.bytes.size()),
            "AB");
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

TEST_F(ExternalData, SaysEachThingOnceAndNothingElse) {
  const auto error_with = [&](std::string_view key, std::string_view value) -> std::string {
    TensorProto tensor = four_bytes();
    tensor.external.emplace_back(key, value);
    try {
      load(tensor);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_with("checksum", "0"), "no error");
  EXPECT_NE(error_with("location", "weights.bin").find("'location' twice"), std::string::npos);
  EXPECT_NE(error_with("offset", "4").find("'offset' twice"), std::string::npos);
  EXPECT_NE(error_with("compression", "1").find("unknown key 'compression'"), std::string::npos);
}

TEST_F(ExternalData, ExcludesDataInTheModel) {
  TensorProto tensor = four_bytes();
  tensor.raw = "ABCD";
  EXPECT_THROW(load(tensor), Error);
  tensor.raw.reset();
  EXPECT_NO_THROW(load(tensor));
  tensor.has_typed_data = true;
  EXPECT_THROW(load(tensor), Error);
}

}  // namespace
}  // namespace tenon::onnx
