// See dump.h.
#include "driver/dump.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/knobs.h"

namespace tenon::driver {
namespace {

namespace fs = std::filesystem;

// Letters that every file system and every shell take.
std::string as_file_name(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string name(text.substr(0, kLongest));
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    if (!plain) c = '-';
  }
  return name;
}

// One more than the largest NNN of the entries NNN-anything.
int next_number(const fs::path& folder) {
  int next = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && *end == '-') next = std::max(next, number + 1);
  }
  return next;
}

// One that was not there before: of processes that want the same number, one makes the folder.
fs::path make_own_folder(const fs::path& parent, std::string_view name) {
  fs::create_directories(parent);
  const std::string last = fs::path(name).filename().string();  // of a path of a model
  for (int number = next_number(parent);; ++number) {
    fs::path folder = parent / fmt::format("{:03}-{}", number, as_file_name(last));
    if (fs::create_directory(folder)) return folder;
  }
}

class FolderDump {
 public:
  FolderDump(std::string parent, std::string_view name) : parent_(std::move(parent)), name_(name) {}

  void write(std::string_view stage, const std::string& text) {
    const size_t slash = stage.rfind('/');
    const bool nested = slash != std::string_view::npos;
    const fs::path folder = own_folder() / (nested ? stage.substr(0, slash) : "");
    const std::string_view name = nested ? stage.substr(slash + 1) : stage;
    const fs::path path =
        folder / fmt::format("{:03}-{}.txt", written_[folder.string()]++, as_file_name(name));
    std::error_code ignored;  // the file tells what is wrong
    fs::create_directories(folder, ignored);
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw user_error("[TENON_DUMP] cannot write {}", path.string());
  }

 private:
  const fs::path& own_folder() {
    if (!own_.empty()) return own_;
    try {
      own_ = make_own_folder(parent_, name_);
    } catch (const fs::filesystem_error& error) {
      throw user_error("[TENON_DUMP] no folder can be made in {}: {}", parent_.string(),
                       error.code().message());
    }
    return own_;
  }

  fs::path parent_;
  std::string name_;
  fs::path own_;                        // empty until the first text comes
  std::map<std::string, int> written_;  // files, by folder
};

}  // namespace

std::function<void(std::string_view, const std::string&)> dump_to_folder(const std::string& folder,
                                                                         std::string_view name) {
  auto dump = std::make_shared<FolderDump>(folder, name);
  return [dump](std::string_view stage, const std::string& text) { dump->write(stage, text); };
}

Options with_dump(Options options) {
  if (!options.dump && !knobs().dump.empty())
    options.dump = dump_to_folder(knobs().dump, options.name);
  return options;
}

}  // namespace tenon::driver
