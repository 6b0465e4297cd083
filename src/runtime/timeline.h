// What the streams of a device did, and when, by the device's own clock: to see whether copies of
// one run go on beside the kernels of another.
#pragma once

#include <iterator>
#include <memory>
#include <vector>

namespace tenon::runtime {

// When a stream had done everything that was asked of it before.
class Moment {
 public:
  virtual ~Moment() = default;
  // The stream has been synchronized. `earlier` is of the same device.
  virtual double milliseconds_since(const Moment& earlier) const = 0;
};

enum class DevicePart { CopyIn, Compute, CopyOut };
inline constexpr const char* kDeviceParts[] = {"copy_in", "compute", "copy_out"};

// In milliseconds since the timeline's first moment.
struct Span {
  int set;
  DevicePart part;
  double begin, end;
};

class Timeline {
 public:
  void next_set() { ++set_; }  // of inputs: what is asked for from now on is its
  void add(DevicePart part, std::unique_ptr<Moment> begin, std::unique_ptr<Moment> end) {
    entries_.push_back({set_, part, std::move(begin), std::move(end)});
  }
  // In the order in which they were asked for. The streams have been synchronized.
  std::vector<Span> spans() const;

 private:
  struct Entry {
    int set;
    DevicePart part;
    std::unique_ptr<Moment> begin, end;
  };
  int set_ = 0;
  std::vector<Entry> entries_;
};

// How much of a time several things went on at once: 1 where always one did, below where there were
// pauses.
struct Overlap {
  double parts[std::size(kDeviceParts)] = {};  // milliseconds of each
  double wall = 0;                             // from the first begin to the last end
  double ratio() const;                        // the parts together, by the wall's; 0 of nothing
};
Overlap overlap_of(const std::vector<Span>& spans);

}  // namespace tenon::runtime
