// See isolated.h.
#include "tests/differential/isolated.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace tenon::differential {

bool true_or_dead(const std::function<bool()>& question) {
  constexpr int kTrue = 1, kFalse = 2;
  constexpr rlimit kMost = {300, 300};  // seconds of work: a child that hangs is as good as dead
  const pid_t child = fork();
  if (child < 0) return question();
  if (child == 0) {
    setrlimit(RLIMIT_CPU, &kMost);
    int answer = kTrue;
    try {
      answer = question() ? kTrue : kFalse;
    } catch (...) {  // NOLINT(bugprone-empty-catch): as if it had died
    }
    _exit(answer);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return !WIFEXITED(status) || WEXITSTATUS(status) != kFalse;
}

}  // namespace tenon::differential
