// The laws of Dim, one by one, with results worked out by hand.
#include "tenon/dim.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace tenon {
namespace {

// NOLINTBEGIN(readability-identifier-naming): the letters of the formulas below
const Dim batch = sym::batch(), seq = sym::seq(), past = Symbol("past");
const Symbol b = Symbol::range("b", batch), s = Symbol::range("s", seq);
const Symbol h = Symbol::range("h", 12), i("i", {0, 1000}), n("n", {-1000, 1000});
// NOLINTEND(readability-identifier-naming)

std::string text(const Dim& dim) { return dim.to_string(); }

ErrorKind error_kind(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::Internal;
}

TEST(Dim, SumsAndProductsAreCanonical) {
  EXPECT_EQ(batch * seq, seq * batch);
  EXPECT_EQ((batch + seq) * (batch - seq), batch * batch - seq * seq);
  EXPECT_EQ(seq + seq + 3 - seq * 2, Dim(3));
  EXPECT_EQ((seq - seq).terms().size(), 0u);
  EXPECT_EQ((batch * seq * 2 + 7).constant_term(), 7);
  EXPECT_EQ((batch * seq).hash(), (seq * batch).hash());
  EXPECT_EQ(Dim(seq).as_symbol(), sym::seq());
  EXPECT_FALSE((seq + 1).as_symbol());
}

TEST(Dim, DivisionSplitsOffMultiplesOfAConstant) {
  EXPECT_EQ(floordiv(seq * 12 + 25, 12), seq + 2);
  EXPECT_EQ(floordiv(seq * 12 + h, 12), seq);
  EXPECT_EQ(floordiv(seq * 12 - 1, 12), seq - 1);
  EXPECT_EQ(text(floordiv(Dim(i) * 5 + 9, 4)), "i + floordiv(i + 1, 4) + 2");
  EXPECT_EQ(ceildiv(seq * 12, 12), seq);
  EXPECT_EQ(round_up(seq * 8, 4), seq * 8);
}

TEST(Dim, DivisionCancelsCommonFactors) {
  EXPECT_EQ(floordiv(Dim(i) * 6, 4), Dim(i) + floordiv(i, 2));
  EXPECT_EQ(floordiv(Dim(i) * 12 + h, 24), floordiv(i, 2));  // h never carries
  EXPECT_EQ(floordiv(Dim(i) * 4 + 5, 8), floordiv(Dim(i) + 1, 2));
  EXPECT_EQ(floordiv(Dim(i) * seq, past * seq), floordiv(i, past));
}

TEST(Dim, NestedDivisionsBecomeOne) {
  EXPECT_EQ(floordiv(floordiv(n, 4), 3), floordiv(n, 12));
  EXPECT_EQ(floordiv(floordiv(n, 4) + 1, 3), floordiv(Dim(n) + 4, 12));
  EXPECT_EQ(floordiv(floordiv(n, seq), 3), floordiv(n, seq * 3));
}

TEST(Dim, DivisionBySymbolsSeesRangeExtents) {
  EXPECT_EQ(floordiv(Dim(b) * seq + s, seq), Dim(b));
  EXPECT_EQ(mod(Dim(b) * seq + s, seq), Dim(s));
  const Dim flat = (Dim(b) * seq + s) * 12 + h;
  EXPECT_EQ(floordiv(flat, seq * 12), Dim(b));
  EXPECT_EQ(floordiv(mod(flat, seq * 12), 12), Dim(s));
  EXPECT_EQ(mod(flat, 12), Dim(h));
  EXPECT_EQ(floordiv(flat, batch * seq * 12), Dim(0));
  EXPECT_EQ(floordiv(Dim(b) * seq + s, seq * past), floordiv(b, past));
}

TEST(Dim, DivisionBySumsSplitsOffWholeMultiples) {
  EXPECT_EQ(floordiv((seq + past) * batch, seq + past), batch);
  EXPECT_EQ(floordiv((seq + past) * 3 - 1, seq + past), Dim(2));
  EXPECT_EQ(ceildiv(seq + past, seq + past), Dim(1));
}

TEST(Dim, DivisionRoundsDownForNegativeOperandsToo) {
  EXPECT_EQ(floordiv(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(floordiv(Dim(7), -2), Dim(-4));
  EXPECT_EQ(mod(Dim(-7), 3), Dim(2));
  EXPECT_EQ(ceildiv(Dim(7), -2), Dim(-3));
  EXPECT_EQ(floordiv(n, -4), floordiv(Dim(0) - n, 4));
}

TEST(Dim, LawsThatNeedAPositiveDivisorWaitForOne) {
  const Symbol any("any", {-9, 9}), j = Symbol::range("j", 4);
  const auto values = [&](const Symbol& symbol) { return symbol == any ? -1 : 3; };
  // i = j = 3, any = -1: floor(15 / -4) = -4, although floor(3 / -1) = -3.
  EXPECT_EQ(floordiv(Dim(i) * 4 + j, Dim(any) * 4).evaluate(values), -4);
  // floor(floor(3 / 4) / -1) = 0, although floor(3 / -4) = -1.
  EXPECT_EQ(floordiv(floordiv(i, 4), any).evaluate(values), 0);
}

TEST(Dim, QuotientAndRemainderMakeTheWhole) {
  for (const Dim& d : {Dim(4), seq, seq * 12, seq + past}) {
    EXPECT_EQ(floordiv(n, d) * d + mod(n, d), Dim(n));
    EXPECT_EQ(mod(mod(n, d), d), mod(n, d));
  }
}

TEST(Dim, MinimumAndMaximumKeepOnlyWhatMatters) {
  EXPECT_EQ(text(min(seq, 512)), "min(seq, 512)");
  EXPECT_EQ(min(seq, seq + 1), seq);
  EXPECT_EQ(max(seq, 1), seq);
  EXPECT_EQ(min(min(seq, past), seq), min(past, seq));
  EXPECT_EQ(min(max(seq, past), seq), seq);
  EXPECT_EQ(min(min(seq, 7), 5), min(seq, 5));
  EXPECT_EQ(max(batch * seq, seq), batch * seq);
  EXPECT_EQ(min(seq, s), Dim(s));
  EXPECT_EQ(max(Dim(3), 8), Dim(8));
}

TEST(Dim, BoundsSeeRemainders) {
  EXPECT_EQ(mod(n, 12).bounds(), (Bounds{0, 11}));
  EXPECT_EQ(floordiv(mod(n, 12), 4).bounds(), (Bounds{0, 2}));
  EXPECT_EQ(mod(floordiv(n, 4), 3).bounds(), (Bounds{0, 2}));
  EXPECT_EQ((mod(Dim(n) * 3 + 1, 7) * 2 + 1).bounds(), (Bounds{1, 13}));
  EXPECT_EQ(Dim(s).bounds(), (Bounds{0, (int64_t{1} << 31) - 2}));
  EXPECT_EQ((batch * seq * past).bounds(), (Bounds{1, kDimInf}));
  EXPECT_EQ(min(seq, 512).bounds(), (Bounds{1, 512}));
}

TEST(Dim, ProofsUseNumbersAndExtents) {
  EXPECT_EQ(prove_lt(s, seq), Proof::Yes);
  EXPECT_EQ(prove_le(seq, batch * seq), Proof::Yes);
  EXPECT_EQ(prove_lt(Dim(b) * seq + s, batch * seq), Proof::Yes);
  EXPECT_EQ(prove_le(floordiv(n, 4) * 4, n), Proof::Yes);
  EXPECT_EQ(prove_lt(mod(n, seq), seq), Proof::Yes);
  EXPECT_EQ(prove_le(seq, s), Proof::No);
  EXPECT_EQ(prove_le(seq, past), Proof::Unknown);
  EXPECT_EQ(prove_equal(seq * 2 + 1, past * 2), Proof::No);
  EXPECT_EQ(prove_equal(seq + 1, seq), Proof::No);
  EXPECT_EQ(prove_equal(s, seq), Proof::No);
  EXPECT_EQ(prove_equal(seq, past), Proof::Unknown);
  EXPECT_EQ(prove_equal(batch * (seq + 1), batch * seq + batch), Proof::Yes);
}

TEST(Dim, SubstitutionMakesCanonicalAgain) {
  const Dim d = floordiv(seq * 12 + i, 24) + min(seq, 512);
  EXPECT_EQ(d.substitute(sym::seq(), Dim(4)).substitute(i, Dim(3)), Dim(6));
  EXPECT_EQ((seq - past).substitute(sym::past(), seq), Dim(0));
  EXPECT_EQ(d.substitute(Symbol("absent"), Dim(1)), d);
  EXPECT_EQ((batch * batch).substitute(sym::batch(), seq + 1), seq * seq + seq * 2 + 1);
}

TEST(Dim, KnowsItsSymbolsAndCoefficients) {
  const Dim d = Dim(s) * batch * 3 + Dim(s) + floordiv(i, 7);
  EXPECT_EQ(d.symbols(), (std::vector<Symbol>{sym::batch(), i, s}));
  EXPECT_TRUE(d.uses(i));
  EXPECT_FALSE(d.uses(h));
  EXPECT_EQ(d.coefficient(s), batch * 3 + 1);
  EXPECT_EQ(d.coefficient(i), std::nullopt);
  EXPECT_EQ((Dim(s) * s).coefficient(s), std::nullopt);
  EXPECT_EQ(d.coefficient(h), Dim(0));
}

TEST(Dim, EvaluationSaysNoWhereThereIsNoValue) {
  const auto values = [](const Symbol& symbol) -> std::optional<int64_t> {
    if (symbol.name() == "seq") return 7;
    if (symbol.name() == "n") return int64_t{1} << 62;
    if (symbol.name() == "i") return 0;
    return std::nullopt;
  };
  EXPECT_EQ((seq * seq + 1).evaluate(values), 50);
  EXPECT_EQ(batch.evaluate(values), std::nullopt);
  EXPECT_EQ((Dim(n) * 2).evaluate(values), std::nullopt);
  EXPECT_EQ((Dim(n) * 4 - Dim(n) * n).evaluate(values), std::nullopt);
  EXPECT_EQ(floordiv(seq, i).evaluate(values), std::nullopt);
}

TEST(Dim, OverflowAndDivisionByZeroAreUserErrors) {
  const Dim large = int64_t{1} << 62;
  EXPECT_EQ(error_kind([&] { (void)(large * seq * 4); }), ErrorKind::User);
  EXPECT_EQ(error_kind([&] { (void)(large + large); }), ErrorKind::User);
  EXPECT_EQ(error_kind([&] { (void)floordiv(seq, 0); }), ErrorKind::User);
  EXPECT_EQ(error_kind([&] { (void)floordiv(Dim(std::numeric_limits<int64_t>::min()), -1); }),
            ErrorKind::User);
  const Dim nested = floordiv(floordiv(n, large), large);  // fits, though the product does not
  EXPECT_EQ(nested.evaluate([](const Symbol&) { return 5; }), 0);
}

TEST(Dim, BoundsOfHugeProductsSaturate) {
  const Symbol wide("wide", {-kDimInf, kDimInf});
  EXPECT_EQ((Dim(wide) * wide * wide).bounds(), Bounds{});
  EXPECT_EQ((batch * seq * past * batch).bounds(), (Bounds{1, kDimInf}));
  EXPECT_EQ((Dim(0) - batch * seq * past).bounds(), (Bounds{-kDimInf, -1}));
}

TEST(DimText, ReadsWell) {
  EXPECT_EQ(text(batch * seq * 12 + floordiv(Dim(i) + 3, 4) - 1),
            "batch*seq*12 + floordiv(i + 3, 4) - 1");
  EXPECT_EQ(text(seq - past), "seq - past");
  EXPECT_EQ(text(Dim(0) - seq), "-seq");
  EXPECT_EQ(text(Dim(0)), "0");
  EXPECT_EQ(text(Dim(Symbol("past len")) * 2), "\"past len\"*2");
  const Constraint constraint{Constraint::Kind::Equal, seq, 4, "[reshape]"};
  EXPECT_EQ(constraint.to_string(), "seq == 4 ([reshape])");
}

TEST(DimText, ReadsBackWhatItWrites) {
  const auto symbol = [](std::string_view name) { return Symbol(std::string(name)); };
  for (const char* written : {"seq", "-seq - 1", "batch*seq*12 + floordiv(seq + 3, 4) - 1",
                              "min(past, seq, 512)", "max(floordiv(batch, seq) - 4, 2)",
                              "\"a \\\" b\\\\\"*2 + 1", "-9223372036854775808", "seq*seq*seq"}) {
    EXPECT_EQ(text(Dim::parse(written, symbol)), written);
  }
  EXPECT_EQ(Dim::parse(" ( seq + 1 ) * -2 ", symbol), seq * -2 - 2);
  EXPECT_EQ(Dim::parse("ceildiv(seq*4, 4) + mod(seq, 1)", symbol), seq);
}

TEST(DimText, RefusesGarbageWithAUserError) {
  const auto symbol = [](std::string_view name) { return Symbol(std::string(name)); };
  std::vector<std::string> garbage = {"",
                                      "+",
                                      "seq +",
                                      "seq seq",
                                      "min(seq)",
                                      "f(1,2)",
                                      "(seq",
                                      "seq)",
                                      "1x",
                                      "99999999999999999999",
                                      "\"open",
                                      "\"open\\",
                                      "a,b",
                                      "min(,)",
                                      "floordiv(1,2,3)",
                                      "\"\"",
                                      "floordiv(seq, 0)",
                                      ".5",
                                      "seq % 2"};
  garbage.emplace_back(100'000, '(');
  garbage.emplace_back(100'000, '-');
  std::string product = "a";
  for (int factor = 0; factor < 12; ++factor) product += "*(a+b+c+d+e+f+g+h)";
  garbage.push_back(product);
  std::string minuses = "2";
  for (int k = 0; k < 100'000; ++k) minuses += "*-";
  garbage.push_back(minuses + "1");
  for (const std::string& input : garbage) {
    EXPECT_EQ(error_kind([&] { Dim::parse(input, symbol); }), ErrorKind::User)
        << input.substr(0, 50);
  }
}

}  // namespace
}  // namespace tenon
