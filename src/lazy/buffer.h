// Buffer: the memory of a tensor's elements, dense, on a device or in a mapped file. It is written
// by whoever made it and by nobody later; views share the memory of what they show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tenon/device.h"

namespace tenon::lazy {

class Buffer {
 public:
  // Not initialized. A device that is not available is a User error.
  static std::shared_ptr<Buffer> allocate(const Device& device, int64_t bytes);
  // Memory of the host that `owner` keeps alive.
  static std::shared_ptr<const Buffer> wrap(const void* data, int64_t bytes,
                                            std::shared_ptr<const void> owner);
  // A whole file, mapped.
  static std::shared_ptr<const Buffer> map(const std::string& path);
  // Bytes of another one, which it keeps alive; the caller has checked that they are there.
  static std::shared_ptr<const Buffer> view(std::shared_ptr<const Buffer> base, int64_t offset,
                                            int64_t bytes);
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return data_; }  // of the host only where on_host()
  int64_t bytes() const { return bytes_; }
  const Device& device() const { return device_; }  // of a file: the CPU
  bool is_file() const { return is_file_; }
  bool on_host() const { return on_host_; }
  // Before it is read: an Error where a file has been cut short and these bytes are gone.
  virtual void check() const {}

 protected:
  Buffer(std::byte* data, int64_t bytes, Device device, bool on_host, bool is_file = false)
      : data_(data), bytes_(bytes), device_(device), on_host_(on_host), is_file_(is_file) {}

  std::byte* data_;
  int64_t bytes_;
  Device device_;
  bool on_host_;
  bool is_file_;
};

// Between any two devices; done when it returns.
void copy(const Buffer& from, Buffer& to);

}  // namespace tenon::lazy
