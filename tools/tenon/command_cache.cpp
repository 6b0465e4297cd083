// `tenon cache`: what is kept on disk of models compiled before; why one would be compiled anew.
#include <fmt/format.h>

#include <algorithm>

#include "tenon/tenon.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"

namespace tenon::cli {
namespace {

constexpr size_t kShownDigest = 12;  // characters that tell digests apart

std::string size_text(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 10'000'000) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.1f} KB", value / 1e3);
}

// Digests are told apart by their first characters.
std::string shortened(const std::string& value) {
  const bool is_digest =
      value.size() == 64 && value.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_digest ? value.substr(0, kShownDigest) + "..." : value;
}

std::string counted(size_t entries) {
  return fmt::format("{} {}", entries, entries == 1 ? "entry" : "entries");
}

std::string or_none(const std::string& value) { return value.empty() ? "none" : shortened(value); }

// A folder that cannot be used is an error here: there is nothing to look at.
AotCache open(const CacheOptions& options) {
  AotCache cache(options.folder);
  if (!cache.usable())
    throw Error(ErrorKind::User, cache.folder().empty()
                                     ? "no folder for the cache: set TENON_CACHE_DIR"
                                     : fmt::format("{} cannot be used", cache.folder()));
  return cache;
}

void ls(const CacheOptions& options) {
  const AotCache cache = open(options);
  const std::vector<AotCache::Entry> entries = cache.entries();
  uint64_t bytes = 0;
  for (const AotCache::Entry& entry : entries) bytes += entry.bytes;
  fmt::print("{}: {}, {}\n", cache.folder(), counted(entries.size()), size_text(bytes));
  if (entries.empty()) return;
  fmt::print("{:>9} {:>10}  {:<6} {:<12}  {}\n", "last use", "size", "device", "graph", "model");
  for (const AotCache::Entry& entry : entries) {
    const std::string model =
        entry.value("kind") == "schedule"
            ? fmt::format("schedule of {} at {}", entry.value("kernel"), entry.value("extents"))
        : entry.value("graph").empty()  // a kernel
            ? fmt::format("kernel, arch {}", entry.value("arch"))
            : fmt::format("{} -> {}", entry.value("inputs"), entry.value("outputs"));
    fmt::print("{:>9} {:>10}  {:<6} {:<12}  {}\n", entry.last_use, size_text(entry.bytes),
               entry.value("device"), entry.value("graph").substr(0, kShownDigest), model);
  }
}

void why(const CacheOptions& options) {
  const AotCache::Why answer = open(options).why_onnx(options.model, compile_options(options));
  if (!answer.nearest) {
    fmt::print("{}: not there, the cache is empty\n", options.model);
    return;
  }
  if (answer.found) {
    fmt::print("{}: there, {}\n", options.model, size_text(answer.nearest->bytes));
    return;
  }
  fmt::print("{}: not there; the nearest entry differs in\n", options.model);
  for (const AotCache::Why::Difference& difference : answer.differences)
    fmt::print("  {}: wanted {}, kept {}\n", difference.field, or_none(difference.wanted),
               or_none(difference.kept));
}

int verify(const CacheOptions& options) {
  AotCache cache = open(options);
  const size_t all = cache.entries().size();  // whose keys can be read
  const std::vector<AotCache::Damaged> damaged = cache.verify(options.remove);
  for (const auto& [file, reason] : damaged)
    fmt::print("{}: {}{}\n", file, reason, options.remove ? "; removed" : "");
  fmt::print("{}: {}, {} damaged\n", cache.folder(), counted(std::max(all, damaged.size())),
             damaged.size());
  return damaged.empty() || options.remove ? 0 : 1;
}

void clear(const CacheOptions& options) {
  AotCache cache = open(options);
  const size_t before = cache.entries().size();
  cache.clear();
  fmt::print("{}: {} removed\n", cache.folder(), counted(before - cache.entries().size()));
}

}  // namespace

int cache(const CacheOptions& options) {
  if (options.action == "verify") return verify(options);
  if (options.action == "ls") ls(options);
  if (options.action == "why") why(options);
  if (options.action == "clear") clear(options);
  return 0;
}

}  // namespace tenon::cli
