// The text form: printing and parsing are inverse, malformed text is the user's error with a place,
// and the canonical text forgets names and nothing else.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernel/kernel.h"
#include "tenon/error.h"
#include "tests/kernel/texts.h"

namespace tenon::kernel {
namespace {

TEST(KernelText, PrintsWhatItParses) {
  for (const std::string& text : {texts::kGuarded, texts::kSoftmax, texts::kLinear,
                                  texts::kLinearTiled, texts::kGather, texts::kRowSum}) {
    EXPECT_EQ(print(parse(text)), text);
  }
}

TEST(KernelText, PrintsHints) {
  const std::string text =
      "kernel k scheduled dims m: 1..100\n"
      "  buffer x: f32[m*16] global argument 0\n"
      "  buffer y: f32[m*16] global argument 1 written\n"
      "  flops 0\n"
      "  bytes 0\n"
      "  thread i in m\n"
      "    prefetch x[i*16 + 64]\n"
      "    vector l in 16\n"
      "      stream y[i*16 + l] = x[i*16 + l] when 0 <= i < 3\n";
  EXPECT_EQ(print(parse(text)), text);
}

std::string with_value(const std::string& value) {
  return "kernel k lowered dims m: -inf..inf, \"odd name\": 0..7\n"
         "  buffer x: f32[m] global argument 0\n"
         "  buffer y: f32[m] global packed 3 written constant\n"
         "  buffer t: i32[7] stack depth 2 async\n"
         "  buffer \"odd buffer\": bool[1] scratch\n"
         "  flops 0\n"
         "  bytes 0\n"
         "  parallel i in m\n"
         "    y[i] = " +
         value + "\n";
}

TEST(KernelText, PrintsEveryKindOfLeafAndFlag) {
  for (const char* value :
       {"f32(0.1)", "f32(-0)", "f32(inf)", "f32(-inf)", "f32(nan)", "f32(1e-45)", "f32(16777216)",
        "f64(0.1)", "i64(-3)", "bool(1)", "index(i64, i + \"odd name\"*2 - 1)",
        "in_range(i - 1, m)", "\"odd buffer\"[0]", "cast(f32, t[\"odd name\"])",
        "x[i] if 0 <= i - 1 < m and 0 <= \"odd name\" < 3", "f32(0.1)"}) {
    const std::string text = with_value(value);
    EXPECT_EQ(print(parse(text)), text);
  }
}

TEST(KernelText, KeepsTheBitsOfConstants) {
  const auto value_of = [](const std::string& text) {
    const Kernel k = parse(with_value(text));
    return k.body[0].as<Loop>()->body->at(0).as<Store>()->value->value;
  };
  EXPECT_EQ(value_of("f32(0.1)"), static_cast<double>(0.1f));
  EXPECT_EQ(value_of("f32(0x1.999999999999ap-4)"), static_cast<double>(0.1f));  // rounded
  EXPECT_EQ(value_of("f64(0.1)"), 0.1);
  EXPECT_TRUE(std::signbit(value_of("f32(-0)")));
  EXPECT_EQ(value_of("f32(-inf)"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(value_of("f32(nan)")));
}

TEST(KernelText, SharedNodesArePrintedOnceHoweverOftenTheyAreUsed) {
  Kernel k = parse(with_value("x[i]"));
  ExprRef value = load(0, DType::F32, 0);
  for (int i = 0; i < 60; ++i) value = value + value;
  k.body = {store(1, 0, value)};
  const std::string text = print(k);
  EXPECT_LT(text.size(), 3000u);
  EXPECT_NE(text.find("%1 = add(%0, %0)\n"), std::string::npos) << text;
  EXPECT_EQ(print(parse(text)), text);
}

TEST(KernelText, DeepExpressionsAreCutIntoDefinitionsThatParse) {
  Kernel k = parse(with_value("x[i]"));
  ExprRef value = load(0, DType::F32, 0);
  for (int i = 0; i < 5000; ++i) value = value + f32(1);
  k.body = {store(1, 0, value)};
  EXPECT_EQ(print(parse(print(k))), print(k));
}

TEST(KernelText, DefinitionsInsideReductionsNameTheRangesTheyUse) {
  Kernel k = parse(with_value("x[i]"));
  const Symbol r = Symbol::range("r", 5);
  const ExprRef e = pointwise(Op::Exp, {load(0, DType::F32, r)});
  k.body = {store(1, 0, reduce(Op::ReduceAdd, r, 5, {e * e}))};
  const std::string text = print(k);
  EXPECT_NE(text.find("%0(r in 5) = exp(x[r])\n"), std::string::npos) << text;
  EXPECT_NE(text.find("y[0] = reduce_add(r in 5, mul(%0, %0))\n"), std::string::npos) << text;
  EXPECT_EQ(print(parse(text)), text);
}

TEST(KernelText, BuffersOfTheSameNameStayApart) {
  Kernel k = parse(with_value("x[i]"));
  k.buffers[1].name = "x";
  const std::string text = print(k);
  const Kernel again = parse(text);
  EXPECT_EQ(again.body[0].as<Loop>()->body->at(0).as<Store>()->buffer, 1);
  EXPECT_EQ(print(again), text);
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    parse(text);
    ADD_FAILURE() << "accepted:\n" << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(KernelText, MalformedTextIsAUserErrorWithLineAndColumn) {
  expect_error("", "1:1: expected 'kernel'");
  expect_error("kernel k raised\n", "1:16: expected a level");
  expect_error("kernel k lowered dims m: 5..1\n", "1:30: [symbol] m: lower bound 5");
  expect_error("kernel k lowered\n  buffer x: f33[1] global argument 0\n",
               "2:16: expected a dtype");
  expect_error(with_value("z[i]"), "9:13: no buffer 'z'");
  expect_error(with_value("x[q]"), "9:14: symbol 'q' is not bound");
  expect_error(with_value("x[i"), "9:15: expected ']'");
  expect_error(with_value("x[i*]"), "9:16: expected an index expression");
  expect_error(with_value("x[floordiv(i, 0)]"), "9:14: ");
  expect_error(with_value("fma(x[i], x[i])"), "9:26: expected ','");
  expect_error(with_value("neg(x[i], x[i])"), "9:20: expected ')'");
  expect_error(with_value("load(x[i])"), "9:17: 'load' is not written as a call");
  expect_error(with_value("frob(x[i])"), "9:17: no op 'frob'");
  expect_error(with_value("%0"), "9:14: %0 is not defined here");
  expect_error(with_value("f32(--1)"), "9:16: expected a number");
  expect_error(with_value("f32(1) f32(2)"), "9:19: expected the end of the line");
  expect_error(with_value("x[i]") + "       y[0] = f32(0)\n", "10:1: unexpected indentation");
  expect_error(with_value("x[i]") + "    %0 = neg(x[i])\n", "11:1: a definition needs a statement");
  expect_error(with_value("x[i]") + "  ladder q in 3 rows r steps\n", "expected an integer");
  expect_error(with_value("x[i]") + "  let g in 3 of x = x[g]\n", "'g' is not bound");
}

TEST(KernelText, NestingIsBounded) {
  std::string value;
  for (int i = 0; i < 100000; ++i) value += "neg(";
  expect_error(with_value(value), "nested too deep");
  std::string text = with_value("x[i]");
  for (int i = 1; i < 500; ++i) {
    text += std::string(static_cast<size_t>(i) * 2, ' ') + "loop i" + std::to_string(i) + " in 2\n";
  }
  expect_error(text, "nested too deep");
}

// Every prefix of good text, and every text with one character missing, parses or is refused.
TEST(KernelText, DamagedTextNeverCrashes) {
  for (const std::string& text : {texts::kSoftmax, texts::kLinearTiled, with_value("x[i]")}) {
    for (size_t i = 0; i < text.size(); ++i) {
      for (const std::string& damaged : {text.substr(0, i), std::string(text).erase(i, 1)}) {
        try {
          parse(damaged);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::User) << error.what();
        }
      }
    }
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(CanonicalText, IsEqualForRenamedKernels) {
  std::string renamed = texts::kSoftmax;
  for (const auto& [from, to] : {std::pair{"kernel softmax", "kernel other"},
                                 {"x[", "in["},
                                 {"x:", "in:"},
                                 {"dims m: 1..65536, n:", "dims zz: 1..65536, n:"},
                                 {"[m*n]", "[n*zz]"},
                                 {" m*n*", " n*zz*"},
                                 {"parallel i in m", "parallel row in zz"},
                                 {"i*n", "row*n"},
                                 {"parallel j in n", "parallel a in n"},
                                 {" + j]", " + a]"},
                                 {" + r]", " + b]"},
                                 {"add(r in", "add(b in"}}) {
    renamed = replaced(renamed, from, to);
  }
  const Kernel a = parse(texts::kSoftmax);
  const Kernel b = parse(renamed);
  EXPECT_NE(print(a), print(b));
  EXPECT_EQ(canonical_text(a), canonical_text(b));
}

TEST(CanonicalText, IsItselfAKernel) {
  for (const std::string& text : {texts::kSoftmax, texts::kLinearTiled, texts::kGather}) {
    const std::string canonical = canonical_text(parse(text));
    EXPECT_EQ(canonical_text(parse(canonical)), canonical);
    EXPECT_EQ(canonical.find("softmax"), std::string::npos);
  }
}

TEST(CanonicalText, DiffersWhereKernelsDo) {
  const auto text = [](const char* value) { return canonical_text(parse(with_value(value))); };
  EXPECT_NE(text("add(x[i], x[i])"), text("add(x[i], y[i])"));
  EXPECT_NE(text("add(x[i], x[0])"), text("add(x[0], x[i])"));
  EXPECT_NE(text("f32(1)"), text("f32(2)"));
  const std::string m64 = replaced(texts::kLinear, "1..65536", "1..64");
  EXPECT_NE(canonical_text(parse(m64)), canonical_text(parse(texts::kLinear)));
}

}  // namespace
}  // namespace tenon::kernel
