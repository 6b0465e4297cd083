// Record: what a search found for one kernel, as a line of text. Files of such lines are portable:
// a line counts where the kernel and the machine are those that it names, and any choice of
// schedules gives the same bits, so the worst that a wrong line does is to be slow.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/choice.h"

namespace tenon::tune {

struct Record {
  std::string kernel;   // digest of the lowered kernel's canonical text
  std::string target;   // what the choice is for: "avx512,l1d=32768,l2=1048576,llvm,threads=2"
  std::string extents;  // "8,128", those of its dims; empty: it has none
  double default_ms = 0, tuned_ms = 0;
  std::string name;         // for people
  schedule::Choice choice;  // empty: the default was not beaten

  bool operator==(const Record&) const = default;
};

std::string print(const Record& record);  // without the end of the line
Result<Record> parse_record(std::string_view line);

// A file: a first line that says what it is, then a line for each. Empty lines and those that begin
// with # say nothing. Errors name the line; the path is the caller's to add.
std::string print(std::span<const Record> records);
Result<std::vector<Record>> parse_records(std::string_view text);

// The path stands in the error.
std::vector<Record> read_records(const std::string& path);

}  // namespace tenon::tune
