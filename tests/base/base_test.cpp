// Hash, knobs, log, mapped files, CPU information: the process's foundations.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/cpu_info.h"
#include "base/hash.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/shared_file.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tenon_base_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  std::string write(const std::string& name, std::string_view text) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

// From RFC 7693's algorithm, by Python: hashlib.blake2b(data, digest_size=32).hexdigest().
TEST(Hash, IsBlake2bWith32Bytes) {
  EXPECT_EQ(digest_of("").hex(),
            "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(digest_of("abc").hex(),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(Hash, TextIsLengthPrefixed) {
  EXPECT_NE(Hasher().text("ab").text("c").finish(), Hasher().text("a").text("bc").finish());
  EXPECT_EQ(Hasher().text("ab").finish(), Hasher().text("ab").finish());
  EXPECT_NE(Hasher().number(1).finish(), Hasher().number(256).finish());
}

Result<Knobs> read_knobs(const std::map<std::string, std::string>& environment) {
  const auto get = [&](const char* variable) -> const char* {
    const auto found = environment.find(variable);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  return Knobs::read(get);
}

TEST(Knobs, HaveDefaultsWhereTheEnvironmentSaysNothing) {
  const Knobs knobs = read_knobs({}).take();
  EXPECT_EQ(knobs.cpu, "");
  EXPECT_EQ(knobs.threads, 0);
  EXPECT_EQ(knobs.log, "warning");
  EXPECT_EQ(knobs.dump, "");
}

TEST(Knobs, AreReadByTheirTypes) {
  const Knobs knobs =
      read_knobs({{"TENON_CPU", "avx2"}, {"TENON_THREADS", "3"}, {"TENON_DUMP", "/tmp/x"}}).take();
  EXPECT_EQ(knobs.cpu, "avx2");
  EXPECT_EQ(knobs.threads, 3);
  EXPECT_EQ(knobs.dump, "/tmp/x");
}

TEST(Knobs, SizesAreBytesOrWithAUnit) {
  EXPECT_EQ(read_knobs({}).take().cache_max, uint64_t{2} << 30);
  const auto size = [](const char* text) {
    return read_knobs({{"TENON_CACHE_MAX", text}}).take().cache_max;
  };
  EXPECT_EQ(size("0"), 0u);
  EXPECT_EQ(size("1000"), 1000u);
  EXPECT_EQ(size("3K"), 3072u);
  EXPECT_EQ(size("5M"), 5u << 20);
  EXPECT_EQ(size("7G"), uint64_t{7} << 30);
  for (const char* bad : {"G", "-1", "1T", "1.5G", "1 G", "99999999999G"})
    EXPECT_FALSE(read_knobs({{"TENON_CACHE_MAX", bad}}).ok()) << bad;
}

TEST(Knobs, ABadValueIsAUserErrorThatSaysWhatIsAllowed) {
  for (const auto& [variable, value, allowed] :
       {std::tuple{"TENON_CPU", "sse", "avx2|avx512"}, std::tuple{"TENON_THREADS", "0", "1..256"},
        std::tuple{"TENON_THREADS", "2x", "1..256"}, std::tuple{"TENON_LOG", "loud", "debug|"}}) {
    const auto knobs = read_knobs({{variable, value}});
    ASSERT_FALSE(knobs.ok());
    EXPECT_EQ(knobs.error().kind(), ErrorKind::User);
    const std::string message = knobs.error().what();
    EXPECT_NE(message.find(variable), std::string::npos) << message;
    EXPECT_NE(message.find(allowed), std::string::npos) << message;
  }
}

TEST(Knobs, TheHelpListsEveryVariable) {
  EXPECT_GE(knob_table().size(), 4u);
  for (const KnobInfo& knob : knob_table()) {
    EXPECT_NE(knob_help().find(knob.variable), std::string::npos);
    EXPECT_FALSE(knob.doc.empty());
  }
}

TEST(Log, SendsMessagesOfItsLevelToTheSink) {
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel level, std::string_view message) {
    lines.push_back(std::string(to_string(level)) + ": " + std::string(message));
  });
  set_log_level(LogLevel::Info);
  log(LogLevel::Debug, "dropped");
  log(LogLevel::Info, "compiled {} kernels", 3);
  log(LogLevel::Error, "bad");
  set_log_level(LogLevel::Off);
  log(LogLevel::Error, "dropped");
  set_log_sink({});
  set_log_level(LogLevel::Warning);
  EXPECT_EQ(lines, (std::vector<std::string>{"info: compiled 3 kernels", "error: bad"}));
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TemporaryFolder folder;
  auto file = MappedFile::open(folder.write("weights", "hello")).take();
  const MappedFile moved = std::move(file);
  ASSERT_EQ(moved.bytes().size(), 5u);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(moved.bytes().data()), 5), "hello");
  EXPECT_TRUE(file.bytes().empty());  // NOLINT(bugprone-use-after-move): moved from is empty
}

TEST(MappedFile, AnEmptyFileIsFine) {
  const TemporaryFolder folder;
  EXPECT_TRUE(MappedFile::open(folder.write("empty", "")).take().bytes().empty());
}

TEST(MapShared, AFileIsMappedOnceWhileSomebodyHoldsIt) {
  const TemporaryFolder folder;
  const std::string path = folder.write("weights", "hello");
  auto one = map_shared(path).take();
  EXPECT_EQ(map_shared(path).take(), one);
  fs::create_hard_link(path, path + ".link");
  fs::remove(path);
  folder.write("weights", "other");  // another file with the same name and size
  const auto other = map_shared(path).take();
  EXPECT_NE(other, one);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(other->bytes().data()), 5), "other");
  EXPECT_FALSE(map_shared(path + ".none").ok());
}

TEST(MappedFile, ErrorsNameTheFile) {
  const TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {folder.path() + "/missing", folder.path(), pipe}) {
    const auto file = MappedFile::open(path);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().kind(), ErrorKind::User);
    EXPECT_NE(std::string(file.error().what()).find(path), std::string::npos);
  }
}

TEST(MappedFile, BytesAreThereAgainAfterTheirPagesWereDropped) {
  const TemporaryFolder folder;
  const std::string text(100'000, 'x');
  const auto file = MappedFile::open(folder.write("pages", text)).take();
  for (const auto advice : {MappedFile::Advice::Sequential, MappedFile::Advice::Random,
                            MappedFile::Advice::WillNeed, MappedFile::Advice::DontNeed}) {
    file.advise(advice);
    file.advise(advice, 5000, 20'000);
    file.advise(advice, 200'000, 1);
  }
  for (const std::byte b : file.bytes()) ASSERT_EQ(b, std::byte{'x'});
}

TEST(CpuInfo, TheCapTakesFeaturesAway) {
  const CpuInfo all = detect_cpu(std::nullopt), capped = detect_cpu(CpuIsa::Avx2);
  EXPECT_LE(capped.isa, CpuIsa::Avx2);
  EXPECT_FALSE(capped.bf16 || capped.vnni);
  EXPECT_GE(all.isa, capped.isa);
  EXPECT_GE(all.l1d, 8 << 10);
  EXPECT_GE(all.l2, all.l1d);
  EXPECT_FALSE(all.name.empty());
}

TEST(CpuBudget, ReadsTheQuotaOfBothKindsOfCgroup) {
  const TemporaryFolder v2, v1, none;
  v2.write("proc/self/cgroup", "0::/a/b\n");
  v2.write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  v2.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(v2.path()), 1.5);  // the parent's limit counts
  v1.write("proc/self/cgroup", "3:memory:/x\n2:cpu,cpuacct:/x\n");
  v1.write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
  v1.write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(v1.path()), 2.0);
  none.write("proc/self/cgroup", "2:cpu:/\n0::/\n");
  none.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  none.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(none.path()), std::nullopt);
}

TEST(CpuBudget, AtLeastOneThreadIsUsable) {
  EXPECT_GE(usable_threads(), 1);
  EXPECT_LE(usable_threads(), affinity_threads());
}

}  // namespace
}  // namespace tenon
