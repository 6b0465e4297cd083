#include "tests/cache/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/cache/store_test.h"

extern char** environ;

namespace tenon::cache {
namespace {

struct Wrong {};

void check(const Bytes& value, int i, const std::string& version = "1") {
  if (!is_value(value, i, version)) throw Wrong{};
}

void note(const std::string& log, const std::string& line) {
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (write(file, line.data(), line.size()) < 0) throw user_error("no log");
  close(file);
}

void make(const std::string& folder, const std::string& log, int entries, unsigned seed) {
  DiskStore store({.folder = folder});
  std::vector<int> order(static_cast<size_t>(entries));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937(seed));
  for (const int i : order) {
    check(store.get_or_make(key_of(i),
                            [&] {
                              usleep(3000);  // others come to wait for it
                              note(log, std::to_string(i) + "\n");
                              return value_of(i);
                            }),
          i);
  }
}

void hold(const std::string& folder, const std::string& log) {
  DiskStore store({.folder = folder});
  store.get_or_make(key_of(1), [&]() -> std::vector<std::byte> {
    note(log, "making\n");
    while (true) pause();
  });
}

void churn(const std::string& folder, unsigned seed, const std::string& version, uint64_t max) {
  std::mt19937 random(seed);
  DiskStore store({.folder = folder, .max_bytes = max});
  for (int n = 0; n < 20; ++n) {
    const int i = static_cast<int>(random() % 12);
    check(store.get_or_make(key_of(i, version), [&] { return value_of(i, version); }), i, version);
  }
}

}  // namespace

int child_main(const std::vector<std::string>& words) {
  set_log_level(LogLevel::Off);
  try {
    if (words[0] == "make") {
      make(words[1], words[2], std::stoi(words[3]), static_cast<unsigned>(std::stoul(words[4])));
    } else if (words[0] == "hold") {
      hold(words[1], words[2]);
    } else {
      churn(words[1], static_cast<unsigned>(std::stoul(words[2])), words[3], std::stoull(words[4]));
    }
    return static_cast<int>(ChildResult::Right);
  } catch (const Wrong&) {
    return static_cast<int>(ChildResult::WrongValue);
  } catch (...) {
    return static_cast<int>(ChildResult::FailedCall);
  }
}

pid_t start_child(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"test_cache", "--child"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ);
  EXPECT_EQ(failed, 0);
  return child;
}

int wait_child(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace tenon::cache
