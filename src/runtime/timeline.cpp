#include "runtime/timeline.h"

#include <algorithm>
#include <numeric>

namespace tenon::runtime {

std::vector<Span> Timeline::spans() const {
  std::vector<Span> spans;
  for (const Entry& entry : entries_) {
    const Moment& origin = *entries_[0].begin;
    spans.push_back({entry.set, entry.part, entry.begin->milliseconds_since(origin),
                     entry.end->milliseconds_since(origin)});
  }
  return spans;
}

Overlap overlap_of(const std::vector<Span>& spans) {
  Overlap overlap;
  if (spans.empty()) return overlap;
  double first = spans[0].begin, last = spans[0].end;
  for (const Span& span : spans) {
    overlap.parts[static_cast<int>(span.part)] += span.end - span.begin;
    first = std::min(first, span.begin);
    last = std::max(last, span.end);
  }
  overlap.wall = last - first;
  return overlap;
}

double Overlap::ratio() const {
  return wall > 0 ? std::accumulate(std::begin(parts), std::end(parts), 0.0) / wall : 0;
}

}  // namespace tenon::runtime
