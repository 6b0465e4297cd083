// See compile_helper.h. Messages go through a socket, numbers of 8 bytes and each piece of text or
// code after its length:
//   asked     the kernel's text
//   answered  1, name, entry, code; or 0, what is wrong
#include "tune/compile_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "program/verify.h"

extern char** environ;

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostBytes = int64_t{1} << 28;  // of a piece

enum class Ended : uint8_t { No, TimeIsUp, Closed };

// The other side of a conversation, until a point in time.
class Channel {
 public:
  Channel(int socket, Clock::time_point deadline) : socket_(socket), deadline_(deadline) {}

  bool write(const void* data, size_t bytes) {
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0 && wait(POLLOUT)) {
      const ssize_t done = send(socket_, from, bytes, MSG_NOSIGNAL);
      if (done < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (done <= 0) return closed();
      from += done;
      bytes -= static_cast<size_t>(done);
    }
    return bytes == 0;
  }
  bool read(void* data, size_t bytes) {
    auto* to = static_cast<char*>(data);
    while (bytes > 0 && wait(POLLIN)) {
      const ssize_t done = ::read(socket_, to, bytes);
      if (done < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (done <= 0) return closed();
      to += done;
      bytes -= static_cast<size_t>(done);
    }
    return bytes == 0;
  }

  bool write_number(int64_t value) { return write(&value, sizeof(value)); }
  bool read_number(int64_t& value) { return read(&value, sizeof(value)); }
  template <typename Bytes>
  bool write_piece(const Bytes& bytes) {
    return write_number(static_cast<int64_t>(bytes.size())) && write(bytes.data(), bytes.size());
  }
  template <typename Bytes>
  bool read_piece(Bytes& bytes) {
    int64_t size = 0;
    if (!read_number(size)) return false;
    if (size < 0 || size > kMostBytes) return closed();
    bytes.resize(static_cast<size_t>(size));
    return read(bytes.data(), bytes.size());
  }

  Ended ended() const { return ended_; }

 private:
  bool closed() {
    ended_ = Ended::Closed;
    return false;
  }
  bool wait(int16_t event) {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      pollfd poll{socket_, event, 0};
      const int ready =
          left <= 0 ? 0 : ::poll(&poll, 1, static_cast<int>(std::min<int64_t>(left + 1, 1 << 30)));
      if (ready > 0) return true;
      if (ready < 0 && errno == EINTR) continue;
      ended_ = ready == 0 ? Ended::TimeIsUp : Ended::Closed;
      return false;
    }
  }

  int socket_;
  Clock::time_point deadline_;
  Ended ended_ = Ended::No;
};

bool answer(const driver::Backend& backend, Channel& channel) {
  std::string text;
  if (!channel.read_piece(text)) return false;
  try {
    const auto code = backend.generate(kernel::parse(text));
    return channel.write_number(1) && channel.write_piece(code->name) &&
           channel.write_number(code->entry) && channel.write_piece(code->bytes);
  } catch (const std::exception& error) {
    return channel.write_number(0) && channel.write_piece(std::string(error.what()));
  }
}

// Null: it said what is wrong, or did not answer.
std::shared_ptr<const program::Code> ask(Channel& channel, const kernel::Kernel& kernel,
                                         std::string& problem) {
  int64_t is_code = 0;
  auto code = std::make_shared<program::Code>();
  if (!channel.write_piece(kernel::print(kernel)) || !channel.read_number(is_code)) return nullptr;
  if (is_code != 1) {
    channel.read_piece(problem);
    return nullptr;
  }
  if (!channel.read_piece(code->name) || !channel.read_number(code->entry) ||
      !channel.read_piece(code->bytes))
    return nullptr;
  code->digest = program::code_digest(code->bytes);
  return code;
}

}  // namespace

CompileHelper::CompileHelper(std::vector<std::string> command, double timeout_seconds)
    : command_(std::move(command)), timeout_(timeout_seconds) {}

CompileHelper::~CompileHelper() { stop(); }

Status CompileHelper::start() {
  if (process_ >= 0) return {};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return user_error("[tune] no socket for {}: {}", command_[0], std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Interrupts from a terminal are for the process that asks.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (std::string& word : command_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int problem =
      posix_spawnp(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  socket_ = ends[0];
  if (problem == 0) return {};
  process_ = -1;
  stop();
  return user_error("[tune] {} cannot be run: {}", command_[0], std::strerror(problem));
}

void CompileHelper::stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

Result<std::shared_ptr<const program::Code>> CompileHelper::compile(const kernel::Kernel& kernel) {
  if (Status started = start(); !started.ok()) return started.error();
  const auto limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(timeout_, 1e6)));
  Channel channel(socket_, Clock::now() + limit);
  std::string problem;
  if (auto code = ask(channel, kernel, problem)) return code;
  if (channel.ended() == Ended::No) return user_error("[tune] {}", problem);
  stop();
  if (channel.ended() == Ended::TimeIsUp)
    return user_error("[tune] compiling took longer than {} s", timeout_);
  return user_error("[tune] the compiler died");
}

void serve_compiles(const driver::Backend& backend, int socket) {
  Channel channel(socket, Clock::time_point::max());
  while (answer(backend, channel)) {
  }
}

}  // namespace tenon::tune
