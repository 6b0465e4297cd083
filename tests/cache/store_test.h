// What tests of the store on disk share: a folder of their own, keys, and values that follow from
// the key.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/log.h"
#include "cache/disk_store.h"

namespace tenon::cache {

inline KeyFields key_of(int i, const std::string& version = "1") {
  return KeyFields()
      .add("graph", "graph " + std::to_string(i))
      .add("device", "cpu")
      .add("version", version);
}

// Every 8th key has an empty value; of key 5 the value is one that is mapped.
inline size_t value_size(int i) {
  if (i % 8 == 0) return 0;
  return i == 5 ? (size_t{9} << 20) + 123 : static_cast<size_t>(i * 7919 % 20000 + 1);
}

inline std::vector<std::byte> value_of(int i, const std::string& version = "1") {
  const size_t size = value_size(i);
  std::vector<uint64_t> words(size / 8 + 1);
  uint64_t state = static_cast<uint64_t>(i) * 1000003 + static_cast<uint64_t>(version[0]);
  for (uint64_t& word : words) word = state = state * 6364136223846793005U + 1442695040888963407U;
  const auto* first = reinterpret_cast<const std::byte*>(words.data());
  return {first, first + size};
}

inline bool is_value(const Bytes& bytes, int i, const std::string& version = "1") {
  const std::vector<std::byte> value = value_of(i, version);
  return bytes.data().size() == value.size() &&
         (value.empty() || std::memcmp(bytes.data().data(), value.data(), value.size()) == 0);
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tenon_cache_XXXXXX").string();
    outside_ = ::mkdtemp(name.data());
    set_log_level(LogLevel::Off);
  }
  ~StoreTest() override {
    set_log_level(LogLevel::Warning);
    std::filesystem::remove_all(outside_);
  }

  DiskStoreOptions options() const { return {.folder = folder().string()}; }
  std::filesystem::path folder() const { return outside_ / "below" / "store"; }
  std::filesystem::path file_of(int i) const { return folder() / key_of(i).digest().hex(); }

  // Whether it had to be made; the value must be right in any case.
  bool makes(DiskStore& store, int i) {
    bool made = false;
    const Bytes value = store.get_or_make(key_of(i), [&] {
      made = true;
      return value_of(i);
    });
    EXPECT_TRUE(is_value(value, i)) << i;
    return made;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder()))
      names.push_back(file.path().filename().string());
    return names;
  }

  std::filesystem::path outside_;
};

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace tenon::cache
