// The verifier: the kernels of texts.h are legal, and each rule has a kernel that breaks it and
// nothing else.
#include <gtest/gtest.h>

#include "kernel/kernel.h"
#include "tenon/error.h"
#include "tests/kernel/texts.h"

namespace tenon::kernel {
namespace {

TEST(KernelVerify, AcceptsLegalKernels) {
  for (const std::string& text : {texts::kGuarded, texts::kSoftmax, texts::kLinear,
                                  texts::kLinearTiled, texts::kGather, texts::kRowSum}) {
    EXPECT_NO_THROW(verify(parse(text))) << text;
  }
}

void expect_illegal(const Kernel& kernel, const std::string& message) {
  try {
    verify(kernel);
    ADD_FAILURE() << "accepted, expected: " << message << "\n" << print(kernel);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("kernel k"), std::string::npos) << error.what();
  }
}

Kernel with_body(const std::string& level, const std::string& body) {
  return parse(
      "kernel k " + level +
      " dims m: 1..100\n"
      "  buffer x: f32[m*64] global argument 0\n"
      "  buffer y: f32[m*64] global argument 1 written\n"
      "  buffer n: i64[64] global argument 2\n"
      "  buffer s: f32[64] stack\n" +
      (level == "scheduled" ? "  buffer r: f32[64] register\n  buffer v: f32[16] register\n" : "") +
      body);
}
Kernel lowered(const std::string& body) { return with_body("lowered", body); }
Kernel scheduled(const std::string& body) { return with_body("scheduled", body); }

TEST(KernelVerify, ChecksWhatALevelAllows) {
  expect_illegal(lowered("  thread t in 4\n"), "no thread loop when lowered");
  expect_illegal(lowered("  vector t in 16\n"), "no vector loop when lowered");
  expect_illegal(lowered("  specialize m in 1 2\n"), "no specialize when lowered");
  expect_illegal(lowered("  mma a in 1, b in 16: s += outer(x[0], x[0])\n"), "no mma when lowered");
  expect_illegal(lowered("  prefetch y[0]\n"), "no prefetch when lowered");
  expect_illegal(lowered("  y[0] = lanes_add(s)\n"), "lanes_add is not an op of this level");
  expect_illegal(scheduled("  parallel t in 4\n"), "no parallel loop when scheduled");
  expect_illegal(scheduled("  y[0] = reduce_add(k in 4, x[k])\n"), "reduce_add is not an op");
  expect_illegal(scheduled("  y[0] = exp(x[0])\n"), "exp is not an op of this level");
}

TEST(KernelVerify, AcceptsAccessesOfLoopsThatNeverRun) {
  const auto few = [](const std::string& extent) {
    return parse(
        "kernel k scheduled dims n: 0..8\n"
        "  buffer y: f32[n] global argument 0 written\n"
        "  thread t in floordiv(n + 16383, 16384)\n"
        "    loop c in " +
        extent +
        "\n"
        "      vector l in 16\n"
        "        y[c*16 + l + t*16384] = f32(0)\n");
  };
  EXPECT_NO_THROW(verify(few("-t*1024")));
  EXPECT_NO_THROW(verify(few("0")));
  expect_illegal(few("1"), "which can be outside");
}

TEST(KernelVerify, ChecksBuffers) {
  Kernel k = lowered("  y[0] = x[0]\n");
  k.buffers[3].storage = Storage::Shared;
  expect_illegal(k, "buffer s: no shared storage when lowered");
  k.buffers[3].storage = Storage::Stack;
  k.buffers[3].elements = Symbol("m");
  expect_illegal(k, "stack storage of symbolic size m");
  k.buffers[3].elements = Symbol("q");
  expect_illegal(k, "symbol q is not bound");
  k.buffers[3].elements = -1;
  expect_illegal(k, "negative size");
  k.buffers[3].elements = 1;
  k.buffers[3].depth = 0;
  expect_illegal(k, "depth 0");
  k = lowered("  x[0] = y[0]\n");
  expect_illegal(k, "buffer x is stored to but not marked as written");
  k = lowered("  y[0] = x[0]\n");
  k.body = {store(7, 0, f32(0))};
  expect_illegal(k, "no buffer 7");
  k.body = {store(1, 0, load(-1, DType::F32, 0))};
  expect_illegal(k, "no buffer -1");
}

TEST(KernelVerify, ChecksThatSymbolsAreBoundOnce) {
  Kernel k = lowered("  y[0] = x[0]\n");
  const Dim q = Symbol("q");
  k.body = {store(1, q, f32(0))};
  expect_illegal(k, "symbol q is not bound");
  k.body = {store(1, 0, load(0, DType::F32, q))};
  expect_illegal(k, "symbol q is not bound");
  k.body = {store(1, 0, f32(0), {{q, 1}})};
  expect_illegal(k, "symbol q is not bound");
  k.body = {store(1, 0, load(0, DType::F32, 0, {{0, q}}))};
  expect_illegal(k, "symbol q is not bound");
  k.body = {loop(LoopKind::Parallel, Symbol("i"), q, {})};
  expect_illegal(k, "symbol q is not bound");
  k.body = {loop(LoopKind::Parallel, Symbol("q"), 4, {}), store(1, q, f32(0))};
  expect_illegal(k, "symbol q is not bound");
  const ExprRef inner = reduce(Op::ReduceAdd, Symbol("q"), 4, {load(0, DType::F32, q)});
  k.body = {store(1, 0, inner + load(0, DType::F32, q))};
  expect_illegal(k, "symbol q is not bound");
  k.flops = q;
  expect_illegal(k, "symbol q is not bound");
  expect_illegal(lowered("  parallel i in 2\n    parallel i in 2\n"), "symbol i is bound twice");
  expect_illegal(lowered("  parallel m in 2\n"), "symbol m is bound twice");
}

TEST(KernelVerify, ChecksDtypes) {
  expect_illegal(lowered("  y[0] = add(x[0], n[0])\n"), "add of f32 and i64");
  expect_illegal(lowered("  y[0] = n[0]\n"), "i64 is stored to buffer y of f32");
  expect_illegal(lowered("  y[0] = select(x[0], x[0], x[0])\n"), "select on f32, not bool");
  expect_illegal(lowered("  y[0] = sqrt(n[0])\n"), "sqrt of i64");
  expect_illegal(lowered("  y[0] = and(x[0], x[0])\n"), "and of f32");
  expect_illegal(lowered("  y[0] = neg(in_range(0, 1))\n"), "neg of bool");
  expect_illegal(lowered("  let g in 4 of x = x[0]\n"), "let g is f32, not an integer");
  Kernel k = lowered("  y[0] = x[0]\n");
  k.body = {store(1, 0, load(2, DType::F32, 0))};
  expect_illegal(k, "buffer n of i64 is read as f32");
  const auto broken = std::make_shared<Expr>(*(f32(1) + f32(2)));
  broken->dtype = DType::F64;
  k.body = {store(1, 0, cast(broken, DType::F32))};
  expect_illegal(k, "add of f32 gives f32, not f64");
  broken->args.pop_back();
  expect_illegal(k, "add has 1 operands, not 2");
}

// 8 elements in parts of a and 8 - a: the kernel does not know, but a is at most 8.
TEST(KernelVerify, AllowsLoopsThatAConstraintKeepsFromRunning) {
  const auto copy = [](const char* bounds) {
    return parse(std::string("kernel k scheduled dims a: ") + bounds +
                 "\n"
                 "  buffer x: f32[8] global argument 0\n"
                 "  buffer y: f32[a] global argument 1 written\n"
                 "  thread c in floordiv(a, 16)\n"
                 "    vector l in 16\n"
                 "      y[c*16 + l] = x[c*16 + l]\n");
  };
  EXPECT_NO_THROW(verify(copy("0..100")));
  expect_illegal(copy("16..100"), "buffer x of 8 elements is accessed at");
}

TEST(KernelVerify, ChecksPrefetches) {
  verify(scheduled("  loop i in m\n    prefetch y[i*64]\n"));
  verify(scheduled("  prefetch x[m*64]\n"));  // outside: a hint
  expect_illegal(scheduled("  prefetch s[0]\n"), "buffer s is prefetched but is no memory");
}

TEST(KernelVerify, ChecksVectorAndUnrollLoops) {
  expect_illegal(scheduled("  vector l in 8\n    y[l] = x[l]\n"), "vector l has extent 8, not 16");
  const std::string only = "a vector loop may contain stores and lets only";
  expect_illegal(scheduled("  vector l in 16\n    loop i in 2\n"), only);
  expect_illegal(scheduled("  vector l in 16\n    specialize l in 1\n"), only);
  expect_illegal(scheduled("  vector l in 16\n    prefetch y[l]\n"), only);
  expect_illegal(scheduled("  vector l in 16\n    y[l] = lanes_add(v)\n"),
                 "lanes_add inside of a vector loop");
  expect_illegal(scheduled("  unroll u in m\n"), "unroll u over m, which is not constant");
  expect_illegal(scheduled("  ladder i in m rows q steps 2 1\n    unroll u in q\n"),
                 "unroll u over q, which is not constant");
}

TEST(KernelVerify, ChecksThatTheThreadLoopIsOutermostAndUnique) {
  const std::string rule = "a thread loop must be the one outermost statement";
  expect_illegal(scheduled("  loop i in 2\n    thread t in 2\n"), rule);
  expect_illegal(scheduled("  thread t in 2\n  y[0] = x[0]\n"), rule);
  expect_illegal(scheduled("  thread t in 2\n    thread u in 2\n"), rule);
}

TEST(KernelVerify, ChecksLaddersAndSpecializations) {
  const std::string rule = "must descend and end with 1";
  expect_illegal(scheduled("  ladder i in m rows q steps 2 4 1\n"), rule);
  expect_illegal(scheduled("  ladder i in m rows q steps 2 2 1\n"), rule);
  expect_illegal(scheduled("  ladder i in m rows q steps 4 2\n"), rule);
  Kernel k = scheduled("  ladder i in m rows q steps 4 1\n");
  Loop broken = *k.body[0].as<Loop>();
  broken.rows.clear();
  k.body = {{broken}};
  expect_illegal(k, "ladder i needs one rows symbol");
  broken.kind = LoopKind::Serial;
  k.body = {{broken}};
  expect_illegal(k, "only a ladder has rows and steps");
  expect_illegal(scheduled("  ladder i in m rows q steps 4 1\n    specialize q in 4\n"),
                 "the ladder's step 1 has no body");
  expect_illegal(scheduled("  ladder i in m rows q steps 1\n    specialize q in 1 1\n"),
                 "values must exist and differ");
  k.body = {specialize(Symbol("q"), {1}, {})};
  expect_illegal(k, "specialize q: the symbol is not bound");
}

TEST(KernelVerify, ChecksThatRegistersAreIndexedByConstants) {
  expect_illegal(scheduled("  loop i in 4\n    r[i] = f32(0)\n"),
                 "register buffer r is indexed by i, which is not constant");
  expect_illegal(scheduled("  loop i in 4\n    y[i] = r[i]\n"),
                 "register buffer r is indexed by i, which is not constant");
  EXPECT_NO_THROW(
      verify(scheduled("  unroll i in 4\n    vector l in 16\n      r[i*16 + l] = f32(0)\n")));
  expect_illegal(scheduled("  y[0] = lanes_add(r)\n"), "no register buffer of 16 elements");
}

TEST(KernelVerify, ChecksMmaOperands) {
  const auto mma = [](const std::string& text) {
    return scheduled("  loop k in 4\n    mma " + text + "\n");
  };
  EXPECT_NO_THROW(verify(mma("a in 4, b in 16: r += outer(x[a], x[b])")));
  expect_illegal(mma("a in 4, b in 16: s += outer(x[a], x[b])"), "s is no register buffer");
  expect_illegal(mma("a in 4, b in 16: r += outer(x[b], x[b])"), "the left operand uses b");
  expect_illegal(mma("a in 4, b in 16: r += outer(x[a], x[a])"), "the right operand uses a");
  expect_illegal(mma("a in m, b in 16: r += outer(x[a], x[b])"), "which is not constant");
  expect_illegal(mma("a in 4, b in 12: r += outer(x[a], x[b])"), "12 columns, no multiple of");
  expect_illegal(mma("a in 5, b in 16: r += outer(x[a], x[b])"), "can be outside");
  expect_illegal(mma("a in 4, b in 16: r += outer(n[a], x[b])"), "the left operand is i64");
}

TEST(KernelVerify, RefusesAccessesThatAreProvablyOutside) {
  expect_illegal(lowered("  s[64] = f32(0)\n"), "accessed at 64, which can be outside");
  expect_illegal(lowered("  y[0] = s[-1]\n"), "accessed at -1, which can be negative");
  expect_illegal(lowered("  parallel i in 4\n    parallel j in 17\n      s[i*16 + j] = f32(0)\n"),
                 "which can be outside");
  expect_illegal(lowered("  parallel i in 4\n    y[i] = s[i - 1]\n"), "which can be negative");
  expect_illegal(lowered("  parallel i in m\n    parallel j in 65\n      y[i*64 + j] = f32(0)\n"),
                 "which can be outside");
  expect_illegal(lowered("  y[0] = reduce_add(k in m, x[k*64 + 64])\n"), "which can be outside");
  expect_illegal(lowered("  let g in 65 of s = n[0]\n  y[0] = s[g]\n"), "which can be outside");
  expect_illegal(scheduled("  ladder i in m rows q steps 5 1\n    specialize q in 5 1\n"
                           "      unroll u in q\n        vector l in 16\n"
                           "          r[u*16 + l] = f32(0)\n"),
                 "which can be outside");
}

TEST(KernelVerify, AcceptsAccessesItCannotDecide) {
  EXPECT_NO_THROW(verify(lowered("  parallel i in m\n    s[i] = f32(0)\n")));
  EXPECT_NO_THROW(verify(lowered("  y[0] = s[64] if 0 <= m < 1\n")));
  EXPECT_NO_THROW(verify(lowered("  parallel i in m - 1\n    s[i + 40] = f32(0)\n")));
}

}  // namespace
}  // namespace tenon::kernel
