#include "cache/key.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/error_of.h"

namespace tenon::cache {
namespace {

using Names = std::vector<std::string>;

TEST(KeyFields, AreReadBackFromTheirText) {
  const KeyFields key = KeyFields()
                            .add("graph", "ab12")
                            .add("options.device", "cpu")
                            .add("empty", "")
                            .add("odd", std::string("a=b\n\\c\0\xff ", 9));
  EXPECT_EQ(key.text(), "graph=ab12\noptions.device=cpu\nempty=\nodd=a=b\\0a\\5cc\\00\\ff \n");
  EXPECT_EQ(KeyFields::parse(key.text()).take(), key);
  EXPECT_EQ(KeyFields::parse("").take(), KeyFields());
}

TEST(KeyFields, OnlyTheirTextIsRead) {
  for (const char* bad : {"a", "a\n", "a=b", "=b\n", "a b=c\n", "a=1\na=2\n", "a=\\\n", "a=\\0\n",
                          "a=\\0g\n", "a=\\0A\n", "a=\\61\n", "a=\t\n", "\n"}) {
    EXPECT_FALSE(KeyFields::parse(bad).ok()) << bad;
  }
}

TEST(KeyFields, TheDigestIsOfNamesValuesAndOrder) {
  const auto digest = [](std::vector<std::pair<const char*, const char*>> fields) {
    KeyFields key;
    for (const auto& [name, value] : fields) key.add(name, value);
    return key.digest();
  };
  const Digest digests[] = {digest({}),
                            digest({{"a", "bc"}}),
                            digest({{"ab", "c"}}),
                            digest({{"a", "b"}, {"c", "d"}}),
                            digest({{"c", "d"}, {"a", "b"}}),
                            digest({{"a", "b"}, {"c", ""}})};
  for (const Digest& a : digests) EXPECT_EQ(std::ranges::count(digests, a), 1);
  EXPECT_EQ(digest({{"a", "b"}}), digest({{"a", "b"}}));
}

TEST(KeyFields, TellWhichDiffer) {
  const KeyFields a = KeyFields().add("graph", "1").add("cpu", "avx2").add("old", "x");
  const KeyFields b = KeyFields().add("cpu", "avx512").add("new", "y").add("graph", "1");
  EXPECT_EQ(differing(a, a), Names{});
  EXPECT_EQ(differing(a, b), (Names{"cpu", "old", "new"}));
}

TEST(KeyFields, ANameIsAWordUsedOnce) {
  EXPECT_NE(error_of([] { KeyFields().add("a b", ""); }).find("'a b'"), std::string::npos);
  EXPECT_NE(error_of([] { KeyFields().add("", ""); }).find("''"), std::string::npos);
  EXPECT_NE(error_of([] { KeyFields().add("a", "").add("a", "1"); }).find("two fields 'a'"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::cache
