// Who waits for whom: threads that would wait for each other for ever are told so, and only those.
#include "cache/waits.h"

#include <gtest/gtest.h>

#include <latch>

#include "tests/error_of.h"

namespace tenon::cache {
namespace {

// What this thread is told when it would wait for one that waits for it, or did until it `ended`.
std::string told_when_other_waits_for_this(bool ended) {
  const std::thread::id self = std::this_thread::get_id();
  const std::atomic<bool> of_this = ended, of_other = false;
  std::latch waits(1), done(1);
  std::jthread other([&] {
    const Wait wait(self, of_this);
    waits.count_down();
    done.wait();
  });
  waits.wait();
  const std::string told = user_error_of([&] { const Wait wait(other.get_id(), of_other); });
  done.count_down();
  return told;
}

TEST(Waits, ForEachOtherAreAnError) {
  EXPECT_EQ(told_when_other_waits_for_this(false),
            "[cache] what makes an entry needs that same entry to be made first");
}

// It has what it waited for, and only has not run since.
TEST(Waits, ThatAreOverAreNone) { EXPECT_EQ(told_when_other_waits_for_this(true), "no error"); }

}  // namespace
}  // namespace tenon::cache
