#include "lazy/device_memory.h"

#include <map>

#include "base/error.h"
#include "base/thread_pool.h"
#include "compiled/device_id.h"

namespace tenon::lazy {

std::shared_ptr<runtime::DeviceStream> open_stream(const Device& device) {
  const std::string why = why_unavailable(device);
  if (!why.empty()) throw user_error("[tensor] {} is not available: {}", to_string(device), why);
  return runtime::open_stream(device_id(device), thread_pool()).take();
}

// Streams stay: tensors may outlive every static of the program.
CopyStream& copy_stream(const Device& device) {
  static auto& mutex = *new std::mutex;
  static auto& streams = *new std::map<std::string, std::unique_ptr<CopyStream>>;
  const std::lock_guard lock(mutex);
  auto& found = streams[to_string(device)];
  if (!found) {
    auto made = std::make_unique<CopyStream>();
    made->stream = open_stream(device);
    found = std::move(made);
  }
  return *found;
}

}  // namespace tenon::lazy
