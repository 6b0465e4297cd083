// A file system that goes wrong where a test says.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "cache/files.h"

namespace tenon::cache {

enum class Call : uint8_t {
  OpenFolder,
  Open,
  Close,
  Read,
  Write,
  Sync,
  Status,
  Map,
  Rename,
  Remove,
  List,
  Lock,
  Unlock,
};

class FaultyFiles : public Files {
 public:
  // Asked before each call: 0 lets it happen, -errno is its result instead.
  std::function<int(Call call, int flags)> fault = [](Call, int) { return 0; };
  size_t most_written = SIZE_MAX;  // by one call
  std::atomic<int> calls = 0;

  // Nothing happens any more from the `n`-th call on: what a process that is killed there leaves.
  void stop_after(int n) {
    fault = [this, n](Call, int) { return calls > n ? -EIO : 0; };
  }

  int open_folder(const std::string& path) override {
    const int failed = ask(Call::OpenFolder);
    return failed ? failed : real_.open_folder(path);
  }
  int open(int folder, const std::string& name, int flags) override {
    const int failed = ask(Call::Open, flags);
    return failed ? failed : real_.open(folder, name, flags);
  }
  int close(int file) override {
    const int failed = ask(Call::Close);
    const int closed = real_.close(file);  // also where it reports a failure
    return failed ? failed : closed;
  }
  int64_t read(int file, std::span<std::byte> to, uint64_t offset) override {
    const int failed = ask(Call::Read);
    return failed ? failed : real_.read(file, to, offset);
  }
  int64_t write(int file, std::span<const std::byte> bytes) override {
    const int failed = ask(Call::Write);
    return failed ? failed : real_.write(file, bytes.first(std::min(bytes.size(), most_written)));
  }
  int sync(int file) override {
    const int failed = ask(Call::Sync);
    return failed ? failed : real_.sync(file);
  }
  int status(int folder, const std::string& name, FileStatus& status) override {
    const int failed = ask(Call::Status);
    return failed ? failed : real_.status(folder, name, status);
  }
  int status(int file, FileStatus& status) override {
    const int failed = ask(Call::Status);
    return failed ? failed : real_.status(file, status);
  }
  std::shared_ptr<const std::byte> map(int file, size_t bytes) override {
    return ask(Call::Map) ? nullptr : real_.map(file, bytes);
  }
  int rename(int folder, const std::string& from, const std::string& to) override {
    const int failed = ask(Call::Rename);
    return failed ? failed : real_.rename(folder, from, to);
  }
  int remove(int folder, const std::string& name) override {
    const int failed = ask(Call::Remove);
    return failed ? failed : real_.remove(folder, name);
  }
  int list(int folder, std::vector<std::string>& names) override {
    const int failed = ask(Call::List);
    return failed ? failed : real_.list(folder, names);
  }
  int lock(int file, uint64_t byte, bool wait) override {
    const int failed = ask(Call::Lock);
    return failed ? failed : real_.lock(file, byte, wait);
  }
  int unlock(int file, uint64_t byte) override {
    const int failed = ask(Call::Unlock);
    return failed ? failed : real_.unlock(file, byte);
  }

 private:
  int ask(Call call, int flags = 0) {
    ++calls;
    return fault(call, flags);
  }

  Files& real_ = real_files();
};

}  // namespace tenon::cache
