// Rounds of what can happen to a folder that processes share: writers killed, files cut, changed,
// exchanged, put in the way, dated nonsense; disks that are full, fail or refuse. Every value stays
// right, no call fails, nothing waits for ever. `./test --full`: 1,000 rounds.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "tests/cache/child.h"
#include "tests/cache/faulty_files.h"
#include "tests/cache/store_test.h"
#include "tests/full.h"

namespace tenon::cache {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeed = 20240607;
constexpr uint64_t kMax = 9'600'000;  // the large value and about ten small ones

class TortureTest : public StoreTest {
 protected:
  uint64_t below(uint64_t n) { return random_() % n; }

  // One that is there; empty: none is.
  fs::path some_file() {
    std::vector<fs::path> all;
    for (const auto& file : fs::directory_iterator(folder())) all.push_back(file.path());
    std::ranges::sort(all);
    return all.empty() ? fs::path() : all[below(all.size())];
  }
  fs::path some_entry() { return file_of(static_cast<int>(below(12))); }

  using Damage = void (TortureTest::*)();
  void cut() {
    const fs::path file = some_file();
    if (fs::is_regular_file(file)) fs::resize_file(file, below(fs::file_size(file) + 1));
  }
  void flip() {
    const fs::path file = some_file();
    if (!fs::is_regular_file(file) || fs::file_size(file) == 0) return;
    std::fstream in_place(file, std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(below(fs::file_size(file)));
    in_place.seekg(at);
    const int byte = in_place.get();
    in_place.seekp(at);
    in_place.put(static_cast<char>(byte ^ (1 << below(8))));
  }
  void append() {
    if (const fs::path file = some_file(); fs::is_regular_file(file))
      std::ofstream(file, std::ios::app) << "more";
  }
  void exchange() {
    const fs::path a = some_entry(), b = some_entry();
    if (fs::is_regular_file(a) && !fs::is_directory(b)) fs::rename(a, b);
  }
  void date() {
    const fs::path file = some_file();
    const timespec nonsense = {.tv_sec = below(2) == 0 ? -1000 : 10'000'000'000, .tv_nsec = 0};
    const timespec both[] = {nonsense, nonsense};
    utimensat(AT_FDCWD, file.c_str(), both, AT_SYMLINK_NOFOLLOW);
  }
  void leave_temporary() { write_text(some_entry().string() + ".77.1.tmp", "half of it"); }
  void put_in_the_way() {
    const fs::path entry = some_entry();
    fs::remove_all(entry);
    if (below(3) == 0) {
      fs::create_directory(entry);
    } else if (below(2) == 0) {
      fs::create_symlink("/dev/zero", entry);
    } else {
      mkfifo(entry.c_str(), 0600);
    }
  }
  void forget() { fs::remove(folder() / (below(2) == 0 ? "locks" : "uses")); }
  void damage() {
    constexpr Damage kDamages[] = {&TortureTest::cut,
                                   &TortureTest::flip,
                                   &TortureTest::flip,
                                   &TortureTest::append,
                                   &TortureTest::exchange,
                                   &TortureTest::date,
                                   &TortureTest::leave_temporary,
                                   &TortureTest::put_in_the_way,
                                   &TortureTest::forget};
    (this->*kDamages[below(std::size(kDamages))])();
  }

  // A disk that goes wrong in one way.
  void break_files(FaultyFiles& files) {
    const int at = static_cast<int>(below(60));
    const int errors[] = {-ENOSPC, -EIO, -EROFS, -ENOLCK, -EACCES, -EMFILE};
    const int error = errors[below(std::size(errors))];
    const auto which = static_cast<Call>(below(static_cast<uint64_t>(Call::Unlock) + 1));
    switch (below(4)) {
      case 0:
        return files.stop_after(at);
      case 1:
        files.most_written = 1 + below(5000);
        return;
      case 2:
        files.fault = [=](Call call, int) { return call == which ? error : 0; };
        return;
      default:
        files.fault = [=, &files](Call, int) { return files.calls == at ? error : 0; };
    }
  }

  void use_broken_store() {
    FaultyFiles files;
    break_files(files);
    DiskStore store({.folder = folder().string(), .max_bytes = kMax, .files = &files});
    for (int n = 0; n < 6; ++n) makes(store, static_cast<int>(below(12)));
  }

  // Two at once, of two versions half of the time; one is killed at some point of its work.
  void run_children() {
    std::vector<pid_t> children;
    for (int i = 0; i < 2; ++i) {
      const std::string version = i == 0 || below(2) == 0 ? "1" : "2";
      children.push_back(start_child(
          {"churn", folder().string(), std::to_string(random_()), version, std::to_string(kMax)}));
    }
    usleep(static_cast<useconds_t>(below(40'000)));
    kill(children[0], SIGKILL);
    const int killed = wait_child(children[0]);
    EXPECT_TRUE(killed == 0 || killed == -SIGKILL) << killed;
    EXPECT_EQ(wait_child(children[1]), 0);
  }

  std::mt19937_64 random_{kSeed};
};

TEST_F(TortureTest, NoWrongValueNoFailedCallNoHang) {
  const int rounds = full_tests() ? 1000 : 50;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    run_children();
    for (uint64_t n = below(4); n > 0; --n) damage();
    use_broken_store();
    for (uint64_t n = below(3); n > 0; --n) damage();
    DiskStore store({.folder = folder().string(), .max_bytes = kMax});
    for (int n = 0; n < 4; ++n) makes(store, static_cast<int>(below(12)));
    if (round % 10 == 9) {
      for (int i = 0; i < 12; ++i) fs::is_directory(file_of(i)) && fs::remove(file_of(i));
      store.verify(true);
      EXPECT_TRUE(store.verify(false).empty());
      DiskStore fresh({.folder = folder().string(), .max_bytes = kMax});
      fresh.erase(key_of(1));
      makes(fresh, 1);  // looks through the folder when it first publishes
      uint64_t bytes = 0;
      for (const DiskStore::Entry& entry : store.entries()) bytes += entry.bytes;
      EXPECT_LE(bytes, kMax);
    }
  }
}

}  // namespace
}  // namespace tenon::cache
