#include "measure/reuse.h"

#include <algorithm>

namespace tenon::measure {

int64_t Reuse::cut(std::vector<Range>& from, const Range& range) {
  int64_t common = 0;
  std::vector<Range> left;
  for (const Range& piece : from) {
    const Range shared{std::max(piece.begin, range.begin), std::min(piece.end, range.end)};
    if (shared.begin >= shared.end) {
      left.push_back(piece);
      continue;
    }
    common += shared.bytes();
    if (piece.begin < shared.begin) left.push_back({piece.begin, shared.begin});
    if (shared.end < piece.end) left.push_back({shared.end, piece.end});
  }
  from = std::move(left);
  return common;
}

void Reuse::touch(uintptr_t begin, uintptr_t end,
                  FunctionRef<void(int64_t bytes, int64_t since)> part) {
  if (begin >= end) return;
  const Range all{begin, end};
  std::vector<Range> wanted = {all}, kept;  // kept: the last one first
  int64_t since = all.bytes();
  for (size_t i = touched_.size(); i-- > 0 && since <= horizon_;) {
    const int64_t found = cut(wanted, touched_[i]);
    if (found > 0) part(found, since);
    std::vector<Range> rest = {touched_[i]};
    cut(rest, all);
    for (const Range& range : rest) since += range.bytes();
    kept.insert(kept.end(), rest.rbegin(), rest.rend());
  }
  for (const Range& range : wanted) part(range.bytes(), kNever);
  touched_.assign(kept.rbegin(), kept.rend());
  touched_.push_back(all);
}

}  // namespace tenon::measure
