// Records of tuning as text: read as they were written, refused where they are damaged.
#include "tune/record.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/error_of.h"
#include "tests/temp_file.h"

namespace tenon::tune {
namespace {

using schedule::Decision;

const std::string kDigest(64, 'a');

Record some_record() {
  return {.kernel = kDigest,
          .target = "avx512,l1d=32768,l2=1048576,llvm,threads=2",
          .extents = "8,128",
          .default_ms = 1.5,
          .tuned_ms = 1.25,
          .name = "linear_gelu",
          .choice = {{{Decision::RowBlock, 96}, {Decision::ColumnGroups, 4}}}};
}

TEST(Record, IsALine) {
  EXPECT_EQ(print(some_record()),
            kDigest + " avx512,l1d=32768,l2=1048576,llvm,threads=2 8,128 1.500000 1.250000 " +
                "linear_gelu: row_block=96 column_groups=4");
  EXPECT_EQ(parse_record(print(some_record())).value(), some_record());
}

TEST(Record, OfADefaultThatWasKeptHasNoChoice) {
  Record record = some_record();
  record.choice = {};
  record.extents = "";
  EXPECT_EQ(parse_record(print(record)).value(), record);
}

TEST(Record, HasAnyName) {
  Record record = some_record();
  record.name = "a b:c\n";
  EXPECT_EQ(parse_record(print(record)).value().name, "a_b_c_");
}

TEST(Record, ThatIsDamagedIsRefused) {
  const std::string good = print(some_record());
  for (const std::string& line :
       {good.substr(1), "g" + good.substr(1), good.substr(0, good.find(':')), good + " row_block=8",
        good + " rows=1", good + "x", std::string(), std::string("::"), kDigest + ": row_block=96",
        kDigest + " t - nan 1 n:", kDigest + " t - -1 1 n:", kDigest + " t - 1 1 n more:"})
    EXPECT_FALSE(parse_record(line).ok()) << line;
}

TEST(Records, AreAFileWithRoomForComments) {
  const std::vector<Record> two = {some_record(), some_record()};
  const std::string text = print(two);
  EXPECT_EQ(text.find("tenon tuned schedules 1\n"), 0U);
  EXPECT_EQ(parse_records(text).value(), two);
  EXPECT_EQ(parse_records(text + "\n# of a laptop\n").value(), two);
  EXPECT_TRUE(parse_records("tenon tuned schedules 1").value().empty());
}

TEST(Records, ThatCannotBeReadNameTheLine) {
  const std::string text = print(std::vector{some_record()});
  EXPECT_EQ(parse_records(text + "nonsense\n").error().what(),
            std::string("line 3: \"nonsense\" is no line of tuned schedules"));
  EXPECT_EQ(parse_records("ELF").error().what(),
            std::string("line 1 is not \"tenon tuned schedules 1\": these are no tuned schedules"));
}

TEST(Records, OfAFileNameItInErrors) {
  const TempFile file(".tuned");
  EXPECT_EQ(user_error_of([&] { read_records(file.path()); }),
            "[tune] " + file.path() + " cannot be read");
  std::ofstream(file.path()) << "tenon tuned schedules 1\nx\n";
  EXPECT_EQ(user_error_of([&] { read_records(file.path()); }),
            "[tune] " + file.path() + ": line 2: \"x\" is no line of tuned schedules");
  std::ofstream(file.path()) << print(std::vector{some_record()});
  EXPECT_EQ(read_records(file.path()), std::vector{some_record()});
}

}  // namespace
}  // namespace tenon::tune
