// Tensors of the caller's memory and of files: what is shared, what is read and when, and what is
// refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"
#include "tests/temp_file.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}
void write_floats(const std::string& path, const Floats& values) {
  write_file(path, std::as_bytes(std::span(values)));
}
std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(WrappedMemory, IsNotCopiedAndKeptByItsOwner) {
  auto owner = std::make_shared<Floats>(Floats{1, 2, 3});
  const std::weak_ptr<Floats> watched = owner;
  Tensor x = Tensor::wrap(owner->data(), DType::F32, {3}, owner);
  EXPECT_EQ(x.array_view<float>().data(), owner->data());
  owner.reset();
  EXPECT_EQ(x.as_vec<float>(), (Floats{1, 2, 3}));
  const Tensor part = x.view_bytes(DType::F32, {1}, 8);
  x = Tensor();
  EXPECT_FALSE(watched.expired());  // the view needs it
  EXPECT_EQ(part.item<float>(), 3);
}

TEST(WrappedMemory, MustBeThereAndAligned) {
  const Floats data(4);
  EXPECT_EQ(user_error_of([] { Tensor::wrap(nullptr, DType::F32, {1}); }),
            "[wrap] the memory is null");
  EXPECT_EQ(Tensor::wrap(nullptr, DType::F32, {0}).extents(), std::vector<int64_t>{0});
  const auto* odd = reinterpret_cast<const char*>(data.data()) + 1;
  EXPECT_EQ(user_error_of([&] { Tensor::wrap(odd, DType::F32, {1}); }),
            "[wrap] the memory is not aligned for f32");
}

TEST(MappedFile, GivesViewsOfItsBytes) {
  const TempFile file(".bin");
  write_floats(file.path(), {1, 2, 3, 4, 5, 6});
  const Tensor all = Tensor::map_file(file.path());
  EXPECT_TRUE(all.is_file());
  EXPECT_EQ(all.type().to_string(), "u8[24]");
  const Tensor part = all.view_bytes(DType::F32, {2, 2}, 8);
  EXPECT_TRUE(part.is_file());
  EXPECT_EQ(part.as_vec<float>(), (Floats{3, 4, 5, 6}));
  EXPECT_EQ(static_cast<const void*>(part.array_view<float>().data()),
            all.array_view<uint8_t>().data() + 8);
  EXPECT_EQ(part.view_bytes(DType::U32, {1}, 4).item<uint32_t>(), 0x40800000U);  // 4.0F
  const Tensor direct = Tensor::map_file(file.path(), DType::F32, {3}, 12);
  EXPECT_EQ(direct.as_vec<float>(), (Floats{4, 5, 6}));
  const Tensor sum = (part + part).sum().realize();
  EXPECT_FALSE(sum.is_file());
  EXPECT_EQ(sum.item<float>(), 36);
}

TEST(MappedFile, OutsideOfItIsAnError) {
  const TempFile file(".bin");
  write_floats(file.path(), {1, 2, 3, 4});
  const Tensor all = Tensor::map_file(file.path());
  EXPECT_EQ(user_error_of([&] { all.view_bytes(DType::F32, {4}, 4); }),
            "[view_bytes] f32[4] at byte 4 needs 16 bytes, there are 16");
  EXPECT_EQ(user_error_of([&] { all.view_bytes(DType::U8, {1}, -1); }),
            "[view_bytes] u8[1] at byte -1 needs 1 bytes, there are 16");
  EXPECT_EQ(user_error_of([&] { all.view_bytes(DType::U8, {1}, int64_t{1} << 62); }),
            "[view_bytes] u8[1] at byte 4611686018427387904 needs 1 bytes, there are 16");
  const Tensor part = all.view_bytes(DType::F32, {2}, 4);  // the base is the view, not the file
  EXPECT_EQ(user_error_of([&] { part.view_bytes(DType::F32, {3}); }),
            "[view_bytes] f32[3] at byte 0 needs 12 bytes, there are 8");
  EXPECT_EQ(user_error_of([&] { Tensor::map_file(file.path(), DType::F64, {3}); }),
            "[map_file] f64[3] at byte 0 needs 24 bytes, there are 16");
  EXPECT_EQ(user_error_of([&] { all.view_bytes(DType::F32, {1}, 2); }),
            "[view_bytes] byte 2 is no place of a f32");
  EXPECT_EQ(user_error_of([&] { all.view_bytes(DType::F64, {int64_t{1} << 61}); }),
            "[view_bytes] the shape has more bytes than there can be");
}

// 4-byte elements at byte 4 of a view that begins at byte 2 of the file.
TEST(MappedFile, AnOffsetIsAPlaceInMemoryNotOnlyInTheView) {
  const TempFile file(".bin");
  write_floats(file.path(), {1, 2, 3, 4});
  const Tensor shifted = Tensor::map_file(file.path()).view_bytes(DType::U8, {10}, 2);
  EXPECT_EQ(user_error_of([&] { shifted.view_bytes(DType::F32, {1}, 4); }),
            "[view_bytes] byte 4 is no place of a f32");
  EXPECT_EQ(shifted.view_bytes(DType::F32, {1}, 2).item<float>(), 2);
}

TEST(MappedFile, ThatIsNotThereIsAnErrorAndAnEmptyOneIsNone) {
  EXPECT_NE(user_error_of([] { Tensor::map_file("/no/such/file.bin"); }).find("/no/such/file.bin"),
            std::string::npos);
  const TempFile file(".bin");
  write_file(file.path(), {});
  EXPECT_EQ(Tensor::map_file(file.path()).extents(), std::vector<int64_t>{0});
}

// Memory of the process, not time, says what was touched.
TEST(MappedFile, OfFourGigabytesIsReadOnlyWhereItIsUsed) {
  constexpr int64_t kBytes = int64_t{4} << 30, kAt = int64_t{3} << 30, kCount = 4096;
  constexpr int64_t kLittle = int64_t{8} << 20;
  const TempFile file(".bin");
  const Floats values(kCount, 0.5F);
  const int descriptor = open(file.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(ftruncate(descriptor, kBytes), 0);
  ASSERT_EQ(pwrite(descriptor, values.data(), kCount * sizeof(float), kAt),
            static_cast<ssize_t>(kCount * sizeof(float)));
  close(descriptor);
  Tensor::from(values).sum().realize();  // so that it is compiled
  const int64_t before = resident_bytes();
  const Tensor all = Tensor::map_file(file.path());
  const Tensor part = all.view_bytes(DType::F32, {kCount}, kAt);
  const Tensor sum = part.sum();
  EXPECT_LT(resident_bytes() - before, kLittle);
  EXPECT_EQ(sum.realize().item<float>(), 2048);
  EXPECT_LT(resident_bytes() - before, kLittle);
}

TEST(MappedFile, IsCopiedToADeviceWhenItIsUsedThere) {
  const TempFile file(".bin");
  write_floats(file.path(), {1, 2});
  const Tensor weight = Tensor::map_file(file.path(), DType::F32, {2});
  EXPECT_TRUE(weight.to(Device::Cpu()).is_file());  // it is there already
  Tensor here = Tensor::from<float>({1, 1}) + weight;
  EXPECT_EQ(here.prepare().stats().copies, 0);
  const Tensor x = Tensor::from<float>({1, 1}).to(Device::Null()).realize();
  Tensor there = weight + x;  // a file is no reason to run on the host
  EXPECT_EQ(there.device(), Device::Null());
  EXPECT_EQ(there.prepare().stats().copies, 1);
}

// What is read of a part that is gone would end the process.
TEST(MappedFile, ThatIsCutShortIsAnErrorOfWhoeverReadsWhatIsGone) {
  const TempFile file(".bin");
  write_floats(file.path(), Floats(4096, 1));
  const Tensor all = Tensor::map_file(file.path());
  const Tensor head = all.view_bytes(DType::F32, {2}),
               tail = all.view_bytes(DType::F32, {2}, 16376);
  Tensor sum = (head + tail).sum();
  ExecutionPlan plan = sum.prepare();
  plan.execute();
  ASSERT_EQ(truncate(file.path().c_str(), 100), 0);
  const std::string error = fmt::format(
      "[map_file] \"{}\" was cut short after it was mapped: 100 of 16384 bytes are left",
      file.path());
  EXPECT_EQ(user_error_of([&] { tail.as_vec<float>(); }), error);
  EXPECT_EQ(user_error_of([&] { tail.array_view<float>(); }), error);
  EXPECT_EQ(user_error_of([&] { tail.to_owned(); }), error);
  EXPECT_EQ(user_error_of([&] { (void)tail.to_string(); }), error);
  EXPECT_EQ(user_error_of([&] { all.view_bytes(DType::U8, {1}, 200); }), error);
  EXPECT_EQ(user_error_of([&] { (tail * 2.0).realize(); }), error);
  EXPECT_EQ(user_error_of([&] { tail.to(Device::Null()).realize(); }), error);
  EXPECT_EQ(user_error_of([&] { plan.execute(); }), error);
  EXPECT_EQ((head * 2.0).realize().as_vec<float>(), (Floats{2, 2}));
}

// Who replaces a file by renaming another one to it takes nothing from those who mapped it.
TEST(MappedFile, ThatIsReplacedIsStillThere) {
  const TempFile file(".bin"), next(".bin");
  write_floats(file.path(), {1, 2, 3});
  write_floats(next.path(), {4});
  const Tensor mapped = Tensor::map_file(file.path(), DType::F32, {3});
  ASSERT_EQ(rename(next.path().c_str(), file.path().c_str()), 0);
  EXPECT_EQ(mapped.as_vec<float>(), (Floats{1, 2, 3}));
}

// The bytes as NumPy writes them.
TEST(NumpyFile, IsReadAndWrittenAsNumpyHasIt) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(118 - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  const Floats values = {1, 2.5, -3, 4};
  bytes += header + std::string(reinterpret_cast<const char*>(values.data()), 16);
  const TempFile theirs(".npy"), ours(".npy");
  write_file(theirs.path(), std::as_bytes(std::span(bytes)));
  const Tensor loaded = Tensor::load_npy(theirs.path());
  EXPECT_EQ(loaded.type().to_string(), "f32[2, 2]");
  EXPECT_EQ(loaded.as_vec<float>(), values);
  EXPECT_FALSE(loaded.is_file());
  loaded.save_npy(ours.path());
  EXPECT_EQ(read_file(ours.path()).substr(10, 59), bytes.substr(10, 59));
  EXPECT_EQ(Tensor::load_npy(ours.path()).as_vec<float>(), values);
}

TEST(NumpyFile, HoldsEveryElementType) {
  const TempFile file(".npy");
  const Tensor numbers = Tensor::arange(6).reshape({2, 3});
  for (const DType dtype :
       {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16,
        DType::U32, DType::U64, DType::F16, DType::F32, DType::F64}) {
    const Tensor saved = numbers.cast(dtype).realize();
    saved.save_npy(file.path());
    const Tensor loaded = Tensor::load_npy(file.path());
    EXPECT_EQ(loaded.type(), saved.type());
    EXPECT_EQ(loaded.to_owned().bytes, saved.to_owned().bytes) << saved.type().to_string();
  }
}

TEST(NumpyFile, IsRefusedWhereItIsNone) {
  EXPECT_NE(user_error_of([] { Tensor::load_npy("/no/such.npy"); }).find("/no/such.npy"),
            std::string::npos);
  const Tensor small = Tensor::from<float>({1}).cast(DType::F8E5M2).realize();
  EXPECT_EQ(user_error_of([&] { small.save_npy("x.npy"); }),
            "x.npy: f8e5m2 has no NumPy type: cast it");
  EXPECT_EQ(user_error_of([] { (Tensor::from<float>({1}) + 1).save_npy("/no/such.npy"); }),
            "[save_npy] the tensor is not realized: f32[1]");
}

}  // namespace
}  // namespace tenon
