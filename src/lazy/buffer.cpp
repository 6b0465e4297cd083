#include "lazy/buffer.h"

#include <cstring>
#include <new>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "lazy/device_memory.h"

namespace tenon::lazy {
namespace {

constexpr std::align_val_t kAlignment{64};

class HostBuffer : public Buffer {
 public:
  explicit HostBuffer(int64_t bytes) : Buffer(nullptr, bytes, Device::Cpu(), true) {
    try {
      data_ = static_cast<std::byte*>(
          ::operator new(static_cast<size_t>(std::max<int64_t>(bytes, 1)), kAlignment));
    } catch (const std::bad_alloc&) {
      throw user_error("[tensor] out of memory: {} bytes", bytes);
    }
  }
  ~HostBuffer() override { ::operator delete(data_, kAlignment); }
};

class DeviceBuffer : public Buffer {
 public:
  DeviceBuffer(const Device& device, std::shared_ptr<runtime::Memory> memory, int64_t bytes,
               bool on_host)
      : Buffer(nullptr, bytes, device, on_host), memory_(std::move(memory)) {
    held_ = memory_->allocate(std::max<int64_t>(bytes, 1), "a tensor").take();
    data_ = held_.data;
  }
  ~DeviceBuffer() override { memory_->release(held_); }

 private:
  std::shared_ptr<runtime::Memory> memory_;
  runtime::Allocation held_;
};

// Memory that somebody else owns, and only reads.
class SharedBuffer : public Buffer {
 public:
  SharedBuffer(const void* data, int64_t bytes, const Device& device, bool on_host,
               std::shared_ptr<const void> owner)
      : Buffer(static_cast<std::byte*>(const_cast<void*>(data)), bytes, device, on_host),
        owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const void> owner_;
};

class FileBuffer : public Buffer {
 public:
  FileBuffer(std::shared_ptr<const MappedFile> file, std::span<const std::byte> part)
      : Buffer(const_cast<std::byte*>(part.data()), static_cast<int64_t>(part.size()),
               Device::Cpu(), true, true),
        file_(std::move(file)) {}

  void check() const override {
    const size_t now = file_->size_now();
    const std::byte* const end = file_->bytes().data() + now;
    if (bytes() > 0 && data() + bytes() > end)
      throw user_error(
          "[map_file] \"{}\" was cut short after it was mapped: {} of {} bytes are left",
          file_->path(), now, file_->bytes().size());
  }
  std::shared_ptr<const Buffer> part(int64_t offset, int64_t bytes) const {
    return std::make_shared<FileBuffer>(
        file_, std::span<const std::byte>(data() + offset, static_cast<size_t>(bytes)));
  }

 private:
  std::shared_ptr<const MappedFile> file_;
};

}  // namespace

std::shared_ptr<Buffer> Buffer::allocate(const Device& device, int64_t bytes) {
  if (device.kind() == Device::Kind::Cpu) return std::make_shared<HostBuffer>(bytes);
  CopyStream& copies = copy_stream(device);
  const std::lock_guard lock(copies.mutex);
  return std::make_shared<DeviceBuffer>(device, copies.stream->lasting_memory(), bytes,
                                        copies.stream->shares_host_memory());
}

std::shared_ptr<const Buffer> Buffer::wrap(const void* data, int64_t bytes,
                                           std::shared_ptr<const void> owner) {
  return std::make_shared<SharedBuffer>(data, bytes, Device::Cpu(), true, std::move(owner));
}

std::shared_ptr<const Buffer> Buffer::map(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(MappedFile::open(path).take());
  return std::make_shared<FileBuffer>(file, file->bytes());
}

std::shared_ptr<const Buffer> Buffer::view(std::shared_ptr<const Buffer> base, int64_t offset,
                                           int64_t bytes) {
  if (base->is_file()) return static_cast<const FileBuffer&>(*base).part(offset, bytes);
  const Buffer& of = *base;
  return std::make_shared<SharedBuffer>(of.data() + offset, bytes, of.device(), of.on_host(),
                                        std::move(base));
}

void copy(const Buffer& from, Buffer& to) {
  if (from.bytes() == 0) return;
  if (from.on_host() && to.on_host()) {
    std::memcpy(to.data(), from.data(), static_cast<size_t>(from.bytes()));
    return;
  }
  if (from.on_host()) {
    CopyStream& copies = copy_stream(to.device());
    const std::lock_guard lock(copies.mutex);
    copies.stream->copy_in(to.data(), from.data(), from.bytes()).throw_if_error();
    copies.stream->synchronize().throw_if_error();
    return;
  }
  CopyStream& copies = copy_stream(from.device());
  std::vector<std::byte> between(to.on_host() ? 0 : static_cast<size_t>(from.bytes()));
  {
    const std::lock_guard lock(copies.mutex);
    std::byte* const host = to.on_host() ? to.data() : between.data();
    copies.stream->read(host, from.data(), from.bytes()).throw_if_error();
  }
  if (!to.on_host()) copy(*Buffer::wrap(between.data(), from.bytes(), nullptr), to);
}

}  // namespace tenon::lazy
