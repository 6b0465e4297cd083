// One stream of each device for memory and copies of tensors, which outlive plans and threads.
#pragma once

#include <memory>
#include <mutex>

#include "runtime/device.h"
#include "tenon/device.h"

namespace tenon::lazy {

struct CopyStream {
  std::shared_ptr<runtime::DeviceStream> stream;
  std::mutex mutex;  // of whoever uses it
};

CopyStream& copy_stream(const Device& device);  // a User error where it is not available

// A new one, for an executor.
std::shared_ptr<runtime::DeviceStream> open_stream(const Device& device);

}  // namespace tenon::lazy
