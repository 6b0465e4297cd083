// See dump.h.
#include "driver/dump.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/error.h"

namespace tenon::driver {

std::function<void(std::string_view, const std::string&)> dump_to_folder(
    const std::string& folder) {
  auto count = std::make_shared<int>(0);
  return [folder, count](std::string_view stage, const std::string& text) {
    std::error_code ignored;  // the file below tells what is wrong
    std::filesystem::create_directories(folder, ignored);
    std::string name(stage);
    for (char& c : name) {
      if (c == ':' || c == '/') c = '-';
    }
    const std::string path = fmt::format("{}/{:03}-{}.txt", folder, (*count)++, name);
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw user_error("[TENON_DUMP] cannot write {}", path);
  };
}

}  // namespace tenon::driver
