// .npy files: what we write can be read back (NumPy's own reading is checked by tests/python), and
// headers made to harm are rejected with a message.
#include "api/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace tenon::npy {
namespace {

std::vector<std::byte> file(const std::string& header, size_t data_bytes, char version = 1) {
  std::string text("\x93NUMPY");
  text += {version, '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  if (version > 1) text += std::string(2, '\0');
  text += header + std::string(data_bytes, '\x01');
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string problem(const std::vector<std::byte>& bytes) {
  try {
    parse(bytes, "x.npy");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    return error.what();
  }
  return "";
}

TEST(Npy, ReadsWhatItWrites) {
  const std::string path =
      std::filesystem::path(testing::TempDir()) / ("tenon_npy_" + std::to_string(getpid()));
  const int16_t data[] = {1, -2, 3, -4, 5, -6};
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{6}, {2, 3}, {1, 3, 2}}) {
    write(path, DType::I16, shape, data);
    const Array array = read(path);
    EXPECT_EQ(array.dtype, DType::I16);
    EXPECT_EQ(array.shape, shape);
    EXPECT_EQ(std::memcmp(array.bytes.data(), data, sizeof(data)), 0);
  }
  write(path, DType::I16, {}, data);
  EXPECT_TRUE(read(path).shape.empty());
  std::filesystem::remove(path);
}

TEST(Npy, ReadsVersionsOneAndTwo) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  for (const char version : {1, 2}) {
    const Array array = parse(file(header, 24, version), "x.npy");
    EXPECT_EQ(array.dtype, DType::F32);
    EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  }
}

// Any dict that Python's literal_eval reads the same is a header.
TEST(Npy, ReadsBothQuotesAndFreeSpaces) {
  for (const char* header :
       {R"({"descr": "<i2", "fortran_order": False, "shape": (2, 3), })",
        R"({'descr': "<i2", "fortran_order": False, 'shape': (2, 3)})",
        R"({ "shape" : ( 2,3, ) , "descr" :'<i2', "fortran_order" :False })"}) {
    const Array array = parse(file(header, 12), "x.npy");
    EXPECT_EQ(array.dtype, DType::I16) << header;
    EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3})) << header;
  }
}

TEST(Npy, SaysWhyAFileCannotBeRead) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("tenon_npy_folder_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "folder.npy");
  std::ofstream(folder / "empty.npy") << "";
  std::ofstream(folder / "text.npy") << "1 2 3";
  std::ofstream(folder / "cut.npy") << "\x93NUM";
  const auto reason = [&](const char* name) -> std::string {
    try {
      read(folder / name);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(folder / name), std::string::npos) << error.what();
      return error.what();
    }
    return "none";
  };
  const std::pair<const char*, const char*> cases[] = {
      {"nowhere.npy", "No such file or directory"}, {"text.npy/x.npy", "Not a directory"},
      {"folder.npy", "is not a regular file"},      {"empty.npy", "it is empty"},
      {"text.npy", "does not start with"},          {"cut.npy", "the header is cut off"}};
  for (const auto& [name, text] : cases)
    EXPECT_NE(reason(name).find(text), std::string::npos) << reason(name);
  std::filesystem::remove_all(folder);
}

// np.asfortranarray([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]): the first axis is the
// fastest.
TEST(Npy, ReadsFortranOrder) {
  std::vector<std::byte> bytes =
      file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }\n", 12);
  const uint8_t theirs[] = {1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12};
  std::ranges::copy(std::as_bytes(std::span(theirs)), bytes.end() - 12);
  const Array array = parse(bytes, "x.npy");
  const uint8_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3, 2}));
  EXPECT_TRUE(std::ranges::equal(array.bytes, std::as_bytes(std::span(expected))));
  for (const char* shape : {"()", "(1,)", "(1, 1)"}) {
    const auto one =
        file(fmt::format("{{'descr': '|u1', 'fortran_order': True, 'shape': {}}}", shape), 1);
    EXPECT_EQ(parse(one, "x.npy").bytes.size(), 1U);
  }
  const auto none = file("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0), }\n", 0);
  EXPECT_TRUE(parse(none, "x.npy").bytes.empty());
}

TEST(Npy, RejectsHostileHeaders) {
  const auto header = [](const char* descr, const char* order, const char* shape) {
    return std::string("{'descr': ") + descr + ", 'fortran_order': " + order +
           ", 'shape': " + shape + ", }\n";
  };
  EXPECT_EQ(problem({}), "x.npy: not a .npy file: it is empty");
  EXPECT_EQ(problem(file("", 0)), "x.npy: the header lacks descr, fortran_order or shape");
  EXPECT_NE(problem(file(header("'>f4'", "False", "(1,)"), 4)).find("'>f4' is not supported"),
            std::string::npos);
  EXPECT_NE(problem(file(header("'|O'", "False", "(1,)"), 8)).find("is not supported"),
            std::string::npos);
  EXPECT_NE(problem(file(header("'<f4'", "Maybe", "(1, 1)"), 4)).find("neither True nor False"),
            std::string::npos);
  EXPECT_NE(problem(file(header("'<f4'", "False", "(2, 3)"), 20)).find("needs 24 bytes"),
            std::string::npos);
  EXPECT_NE(
      problem(file(header("'<f4'", "False", "(4294967296, 4294967296)"), 0)).find("too large"),
      std::string::npos);
  EXPECT_NE(
      problem(file(header("'<f4'", "False", "(99999999999999999999999,)"), 0)).find("too large"),
      std::string::npos);
  EXPECT_NE(problem(file(header("'<f4'", "False", "(-1,)"), 4)).find("not a list of extents"),
            std::string::npos);
  for (const char* shape : {"(2 3)", "(2,,3)", "(,)", "(2, x)", "((2,), 3)", "(2.0,)"}) {
    EXPECT_NE(problem(file(header("'<f4'", "False", shape), 24)).find("not a list of extents"),
              std::string::npos)
        << shape;
  }
  EXPECT_NE(problem(file(header("'<f4'", "False", "1"), 4)).find("not a tuple"), std::string::npos);
  std::vector<std::byte> cut = file(header("'<f4'", "False", "(1,)"), 4);
  cut.resize(20);
  EXPECT_EQ(problem(cut), "x.npy: the header is cut off");
}

TEST(Npy, EveryPrefixOfAFileIsRejected) {
  const std::vector<std::byte> whole =
      file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(problem({whole.begin(), whole.begin() + static_cast<int64_t>(size)}), "") << size;
  }
}

}  // namespace
}  // namespace tenon::npy
