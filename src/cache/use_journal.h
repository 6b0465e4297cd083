// In which order the entries of a folder were used: a file with the name of an entry on each line,
// the last use last. A use appends a line, so that processes need no lock for it; the number of the
// line is the clock. Lines that are damaged or lost cost the order and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cache/folder.h"

namespace tenon::cache {

class UseJournal {
 public:
  explicit UseJournal(const Folder& folder) : folder_(&folder) {}

  // True once in many thousand uses: it is time to shorten.
  bool note(const std::string& entry) const;

  // The line of each entry's last use, from 1; what is not there has none.
  using Ages = std::unordered_map<std::string, uint64_t>;
  Ages ages() const;
  static Ages parse(std::string_view text);

  // Leaves one line for each of `ages`, in their order, where there are many more than that. For
  // who holds the folder's cleaning lock; uses noted meanwhile may be lost.
  void shorten(const Ages& ages) const;
  void remove() const;

 private:
  const Folder* folder_;
};

}  // namespace tenon::cache
