// The background worker: tasks in order, piece by piece, within a share of a core, at the lowest
// priority; what happens to it when somebody waits, when it ends and when the process forks. These
// tests run under ThreadSanitizer too.
#include "base/background_worker.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "tests/sanitizers.h"

namespace tenon {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// Something that happens on another thread, once.
class Event {
 public:
  void happen() {
    happened_ = true;
    happened_.notify_all();
  }
  void wait() { happened_.wait(false); }

 private:
  std::atomic<bool> happened_ = false;
};

// A clock that stands still but for what pieces say they cost.
struct FakeTime {
  std::atomic<int64_t> spent = 0;
  std::vector<nanoseconds> rests;

  BackgroundTime time() {
    return {[this] { return nanoseconds(spent.load()); },
            [this](nanoseconds rest) { rests.push_back(rest); }};
  }
};

TEST(BackgroundWorker, KeepsToTheShareOfEachTask) {
  FakeTime fake;
  {
    BackgroundWorker worker(fake.time());
    Event done;
    int left = 4;
    worker.add({[&] { return fake.spent += 1000, --left > 0; }, 0.1});
    worker.add({[&] { return fake.spent += 300, false; }, 0.25});
    worker.add({[&] { return done.happen(), false; }, 1});
    done.wait();
  }
  EXPECT_EQ(fake.rests, (std::vector<nanoseconds>{9000ns, 9000ns, 9000ns, 9000ns, 900ns}));
}

TEST(BackgroundWorker, IsHelpedByWhoWaitsForIt) {
  const auto hours = [spent = std::make_shared<std::atomic<int64_t>>(0)] {
    return std::chrono::hours((*spent)++);
  };
  BackgroundWorker worker({hours, nullptr});
  Event first;
  std::thread::id second;
  worker.add({[&] { return first.happen(), false; }, 0.5});  // then an hour of rest
  first.wait();
  worker.add({[&] { return second = std::this_thread::get_id(), false; }, 0.5});
  EXPECT_TRUE(worker.help());
  EXPECT_EQ(second, std::this_thread::get_id());
  EXPECT_FALSE(worker.help());
}

TEST(BackgroundWorker, DoesOneTaskAfterTheOther) {
  std::vector<std::string> order;
  {
    BackgroundWorker worker;
    Event begin, done;
    worker.add({[&] { return begin.wait(), false; }});
    for (const char* name : {"a", "b"}) {
      worker.add({[&order, name, pieces = 0]() mutable {
        order.push_back(name + std::to_string(++pieces));
        return pieces < 3;
      }});
    }
    worker.add({[&] { return done.happen(), false; }});
    begin.happen();
    done.wait();
  }
  EXPECT_EQ(order, (std::vector<std::string>{"a1", "a2", "a3", "b1", "b2", "b3"}));
}

TEST(BackgroundWorker, EndsAfterThePieceInHand) {
  const auto held = std::make_shared<int>(0);
  std::atomic<int> pieces = 0;
  {
    BackgroundWorker worker;
    Event begun;
    worker.add({[&, held] { return ++pieces, begun.happen(), true; }, 1e-9});  // then a long rest
    worker.add({[&, held] { return ++pieces, false; }});
    begun.wait();
  }
  EXPECT_EQ(pieces, 1);
  EXPECT_EQ(held.use_count(), 1);  // what is left was dropped
}

TEST(BackgroundWorker, RunsAtTheLowestPriority) {
  std::atomic<bool> lowest = false;
  {
    BackgroundWorker worker;
    Event done;
    worker.add({[&] {
      lowest = sched_getscheduler(0) == SCHED_IDLE || getpriority(PRIO_PROCESS, 0) == 19;
      return done.happen(), false;
    }});
    done.wait();
  }
  EXPECT_TRUE(lowest);
  EXPECT_NE(sched_getscheduler(0), SCHED_IDLE);  // of this thread
}

TEST(Background, IsOneThreadOfTheProcess) {
  Event done;
  std::thread::id first, second;
  run_in_background({[&] { return first = std::this_thread::get_id(), false; }});
  run_in_background({[&] {
    second = std::this_thread::get_id();
    return done.happen(), false;
  }});
  done.wait();
  shut_down_background();
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
}

#if !TENON_THREAD_SANITIZER  // ThreadSanitizer does not support threads in a forked child
TEST(Background, GoesOnInAForkedChild) {
  static std::atomic<int> pieces = 0;
  Event begun;
  run_in_background({[&] { return ++pieces, begun.happen(), pieces < 3; }, 1e-9});
  begun.wait();  // in the parent it rests from now on
  const pid_t child = fork();
  if (child == 0) {
    while (help_background()) {
    }
    Event done;
    run_in_background({[&] { return done.happen(), false; }});
    done.wait();  // for a thread of the child
    _exit(pieces == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  shut_down_background();
  EXPECT_EQ(pieces, 1);
}
#endif

}  // namespace
}  // namespace tenon
