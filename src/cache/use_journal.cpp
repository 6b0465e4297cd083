// See use_journal.h.
#include "cache/use_journal.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cache/entry_file.h"

namespace tenon::cache {
namespace {

const std::string kUses = "uses", kShorter = "uses.tmp";
constexpr uint64_t kLineBytes = 2 * sizeof(Digest::bytes) + 1;
constexpr uint64_t kLookEvery = uint64_t{1} << 20;
constexpr uint64_t kFewLines = 1024;                // are never shortened
constexpr uint64_t kMostRead = uint64_t{64} << 20;  // of a file that should be far smaller

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

bool UseJournal::note(const std::string& entry) const {
  const OpenFile file = folder_->open(kUses, O_WRONLY | O_CREAT | O_APPEND);
  FileStatus status;
  if (!file.is_open() || file.write_all(bytes_of(entry + '\n')) < 0 ||
      file.files().status(file.descriptor(), status) < 0) {
    return false;
  }
  return status.bytes % kLookEvery < kLineBytes && status.bytes >= kLookEvery;
}

UseJournal::Ages UseJournal::parse(std::string_view text) {
  Ages ages;
  for (uint64_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (is_entry_name(text.substr(0, end))) ages[std::string(text.substr(0, end))] = line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ages;
}

UseJournal::Ages UseJournal::ages() const {
  const OpenFile file = folder_->open(kUses, O_RDONLY);
  FileStatus status;
  if (!file.is_open() || file.files().status(file.descriptor(), status) < 0 || !status.is_regular)
    return {};
  std::string text(static_cast<size_t>(std::min(status.bytes, kMostRead)), '\0');
  if (!file.read_all(std::as_writable_bytes(std::span(text)), status.bytes - text.size()))
    return {};
  return parse(text);
}

void UseJournal::shorten(const Ages& ages) const {
  FileStatus status;
  if (folder_->status(kUses, status) < 0 ||
      status.bytes <= kLineBytes * (kFewLines + 4 * ages.size())) {
    return;
  }
  std::vector<std::pair<uint64_t, std::string>> in_order;
  for (const auto& [name, age] : ages) in_order.emplace_back(age, name);
  std::ranges::sort(in_order);
  std::string text;
  for (const auto& [age, name] : in_order) text += name + '\n';
  OpenFile file = folder_->open(kShorter, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.is_open() && file.write_all(bytes_of(text)) == 0 && file.close() == 0)
    folder_->rename(kShorter, kUses);
}

void UseJournal::remove() const {
  folder_->remove(kUses);
  folder_->remove(kShorter);
}

}  // namespace tenon::cache
