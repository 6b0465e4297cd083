// LIR as text: the plan of its memory and steps, what it was planned by, its graph. What is read
// prints as it was; what was changed is an Error.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

// Four steps: the buffer of the first is free when the third writes.
Graph chain(const Dim& rows = sym::batch()) {
  Graph g;
  const Value x = g.input("x", {{rows, 32}, DType::F32});
  const Value w = g.param("w", {{32, 32}, DType::F32});
  g.set_origin("layer.0");
  const Value inner = g.matmul(g.softmax(g.matmul(x, w), 1), w);
  g.set_origin("");
  g.set_outputs({{"y", g.matmul(inner, w)}});
  return g;
}

// Products that are computed where their concatenation lies.
Graph parts() {
  Graph g;
  const Value x = g.input("x", {{4, 32}, DType::F32});
  const Value w = g.param("w", {{32, 32}, DType::F32});
  const Value first = g.matmul(x, w);
  g.set_outputs({{"y", g.concat({first, g.matmul(first, w)}, 0)}});
  return g;
}

// Of the weights alone: a step of the prologue. And a name that needs quotes.
Graph of_weights() {
  Graph g;
  const Value x = g.input("the \"x\"\n", {{sym::batch(), sym::seq(), 16}, DType::F32});
  const Value w = g.param("w", {{16, 16}, DType::F32});
  g.set_outputs({{"y", g.matmul(x, g.mul(w, g.scalar(DType::F32, 0.5)))}});
  return g;
}

Graph branch_and_loop() {
  return Graph::parse(R"(graph
input %flag : bool[]
input %trips : i64[]
input %x : f32[3, 8]
param %w : f32[8, 8]
%0 = if(%flag, %x, %w, %x) {else = graph {
  input %in0 : f32[3, 8]
  %0 = constant(1) : f32[]
  %1 = sub(%in0, %0) : f32[3, 8]
  output "out0" = %1
}, extents = [3, 8], then = graph {
  input %in0 : f32[3, 8]
  input %in1 : f32[8, 8]
  %0 = matmul(%in0, %in1) : f32[3, 8]
  output "out0" = %0
}} : f32[3, 8]
%1 = loop(%trips, %flag, %0) {body = graph {
  input %in0 : i64[]
  input %in1 : bool[]
  input %in2 : f32[3, 8]
  %0 = add(%in2, %in2) : f32[3, 8]
  output "out0" = %in1
  output "out1" = %0
}, carried = 1, extents = [3, 8]} : f32[3, 8]
output "y" = %1
)");
}

// Extents that a run defines: memory in two stages.
Graph defined_extents() {
  return Graph::parse(R"(graph
symbol n 0..100
input %count : i64[1]
input %x : f32[100, 8]
param %w : f32[8, 8]
%0 = define(%count) {symbols = [n]} : i64[1]
%1 = slice(%x) {extents = [n, 8], starts = [0, 0], steps = [1, 1]} : f32[n, 8]
%2 = matmul(%1, %w) : f32[n, 8]
%3 = softmax(%2) {axis = 1} : f32[n, 8]
%4 = matmul(%3, %w) : f32[n, 8]
output "y" = %4
output "counted" = %0
)");
}

LirModule planned(const Graph& graph, const CompileOptions& options = {}) {
  return CompilePipeline(options).compile_graph(graph).lir;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void expect_round_trip(const LirModule& lir) {
  const std::string text = lir.print();
  const LirModule again = LirModule::parse(text);
  EXPECT_EQ(again.print(), text);
  EXPECT_EQ(again.fingerprint(), lir.fingerprint());
  EXPECT_EQ(to_string(again.plan()), to_string(lir.plan()));
}

TEST(PlanText, HasALineForEverything) {
  EXPECT_EQ(to_string(planned(chain()).plan()), R"(plan
  alignment 64
  arena batch*256 bytes
  unshared batch*384 bytes
  saved batch*128 bytes
  reused 1 buffers
  dynamic batch
  input "x" : f32[batch, 32]
  param "w" : f32[32, 32]
  output "y" : f32[batch, 32]
  slot 0 at 0 : batch*128 bytes
  slot 1 at batch*128 : batch*128 bytes
  buffer 0 : batch*128 bytes, slot 0 at 0
  buffer 1 : batch*128 bytes, slot 1 at 0
  buffer 2 : batch*128 bytes, slot 0 at 0
  prologue linear_pack(param "w") -> packed 0 @"layer.0"
  steady linear(input "x", packed 0) -> arena 0 @"layer.0"
  steady softmax(arena 0) -> arena 1 @"layer.0"
  steady linear(arena 1, packed 0) -> arena 2 @"layer.0"
  epilogue linear(arena 2, packed 0) -> output "y"
)");
}

TEST(PlanText, SaysWhereViewsLie) {
  const std::string text = to_string(planned(parts()).plan());
  EXPECT_TRUE(contains(text, ", view of output \"y\" at 512\n")) << text;  // 4 rows of 128 bytes
}

TEST(PlanText, HasThePlansOfBodiesAndStages) {
  const LirModule control = planned(branch_and_loop());
  const auto with_bodies = [&](const char* kind) {
    for (const BufferPlan::Step& step : control.plan().order) {
      if (step.kind == kind) return step.bodies.size();
    }
    return size_t{0};
  };
  EXPECT_EQ(with_bodies("if"), 2u);
  EXPECT_EQ(with_bodies("loop"), 1u);
  EXPECT_TRUE(contains(to_string(control.plan()), "\n    plan\n      alignment 64\n"));
  const std::string stages = to_string(planned(defined_extents()).plan());
  EXPECT_TRUE(contains(stages, " bytes, stage 1\n")) << stages;
}

TEST(LirText, ReadsWhatItPrints) {
  for (const Graph& graph :
       {chain(), chain(5), parts(), of_weights(), branch_and_loop(), defined_extents()}) {
    SCOPED_TRACE(graph.print());
    expect_round_trip(planned(graph));
  }
  expect_round_trip(planned(of_weights()).specialize(DimBinding::batch_seq(2, 5)));
}

TEST(LirText, HasAPhaseForEachNode) {
  const std::string text = planned(of_weights()).print();
  EXPECT_TRUE(contains(text, "param %w : f32[16, 16]  // prologue\n")) << text;
  EXPECT_TRUE(contains(text, " = mul(")) << text;
  const size_t product = text.find(" = mul(");
  EXPECT_TRUE(contains(text.substr(product, text.find('\n', product) - product), "// prologue"));
  EXPECT_TRUE(contains(text, " : f32[batch, seq, 16]  // epilogue\n")) << text;
}

const std::vector<CompileOptions>& deciding_options() {
  static const std::vector<CompileOptions> kOptions = {
      {.device = Device::Null()},
      {.device = Device::Cuda(0), .cuda_arch = 90},
      {.device = Device::Cuda(0), .cuda_arch = 90, .precision = "tf32"},
      {.cpu = "avx2"},
      {.precision_policy = PrecisionOptions{.policy = PrecisionPolicy::AlwaysBf16}},
      {.precision_policy =
           PrecisionOptions{PrecisionPolicy::Custom,
                            {Numbers::ByBf16, Numbers::F32, Numbers::F32, Numbers::F16}}},
      {.fusion = {.limits = FusionLimits{.max_steps = 3, .max_inputs = 4}}},
      {.fusion = {.skip = {{"fuse_gelu", "fuse_softmax"}}}},
      {.dispatch = DispatchOptions{DispatchPolicy::ForceCommon, {}}},
      {.dispatch = DispatchOptions{.overrides = {{"softmax", DispatchPolicy::ForceCommon}}}},
      {.memory = PlanOptions{.mode = PlanMode::Remap, .alignment = 256}},
      {.memory = PlanOptions{.mode = PlanMode::Disabled}},
      {.optimizer = OptStrategy::Plain{}},
  };
  return kOptions;
}

TEST(LirText, SaysWhatItWasPlannedBy) {
  for (const CompileOptions& options : deciding_options()) {
    const std::string text = planned(chain(), options).print();
    SCOPED_TRACE(text);
    EXPECT_EQ(LirModule::parse(text).print(), text);
    EXPECT_EQ(LirModule::parse(text, options).print(), text);
  }
}

TEST(LirText, OptionsThatAreGivenMustBeItsOwn) {
  const std::string text = planned(chain()).print();
  const char* const names[] = {
      "device",           "device",        "device",      "cpu",      "precision_policy",
      "precision_policy", "fusion.limits", "fusion.skip", "dispatch", "dispatch",
      "memory",           "memory",        "optimizer"};
  ASSERT_EQ(std::size(names), deciding_options().size());
  const bool avx2 = contains(text, "cpu avx2");
  for (size_t i = 0; i < deciding_options().size(); ++i) {
    if (avx2 && names[i] == std::string_view("cpu")) continue;
    EXPECT_TRUE(contains(error_of([&] { LirModule::parse(text, deciding_options()[i]); }),
                         std::string("[lir] the options say ") + names[i]))
        << names[i] << ": " << error_of([&] { LirModule::parse(text, deciding_options()[i]); });
  }
  EXPECT_TRUE(contains(error_of([&] { LirModule::parse(text, {.supported_ops = {{"matmul"}}}); }),
                       "the options say supported_ops matmul, the text was planned by none"));
  EXPECT_TRUE(contains(error_of([&] { LirModule::parse(text, {.dim_binding = {{"batch", 2}}}); }),
                       "planned already"));
  const LirModule free = LirModule::parse(text, {.threads = 1, .codegen = "llvm"});
  EXPECT_EQ(Session().compile(free).threads(), 1);
}

TEST(LirText, WhatWasReadRuns) {
  CompiledGraph compiled = Session().compile(LirModule::parse(planned(chain(2)).print()));
  std::vector<float> w(32 * 32), x(2 * 32, 1);
  for (size_t i = 0; i < 32; ++i) w[i * 32 + i] = 2;  // 2 * identity: softmax of equal numbers
  compiled.set_param("w", w);
  const auto y = compiled.run({{"x", view(x, {2, 32})}});
  for (const float each : y[0]) EXPECT_FLOAT_EQ(each, 4.0f / 32);
}

TEST(LirText, ErrorsNameTheLine) {
  const std::string text = planned(chain()).print();
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return error_of([&] { LirModule::parse(changed); });
  };
  EXPECT_TRUE(contains(replaced("lir ", "LIR "), "[lir] line 1: expected"));
  EXPECT_TRUE(contains(replaced("axis = 1", "axis = 0"), "they were changed"));
  EXPECT_TRUE(contains(replaced("batch*256 bytes", "batch*257 bytes"),
                       "it says \"  arena batch*257 bytes\", but the graph and the options give \""
                       "  arena batch*256 bytes\""));
  EXPECT_TRUE(contains(replaced("// steady", "// prologue"), "// prologue\", but"));
  EXPECT_TRUE(contains(replaced("  memory arena 64", "  memory heap 64"),
                       "\"heap\" is not known; there are: arena, remap, disabled"));
  EXPECT_TRUE(contains(replaced("  memory arena 64", "  storage 1"), "no option \"storage\""));
  EXPECT_TRUE(contains(replaced("\nplan\n", "\nplans\n"), "there is no line \"plan\""));
  EXPECT_TRUE(contains(error_of([&] { LirModule::parse(text + "\n"); }), "[lir] line "));
  // Errors inside of the graph count lines from the beginning of the text.
  const auto line =
      1 + std::count(text.begin(),
                     text.begin() + static_cast<std::ptrdiff_t>(text.find("input %x")), '\n');
  EXPECT_TRUE(contains(replaced("input %x", "input x"), std::to_string(line) + ":"))
      << replaced("input %x", "input x");
}

// Anything else is an Error, or the same module.
void expect_error_or_same(const std::string& text) {
  try {
    EXPECT_EQ(LirModule::parse(text).print(), text);
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::Internal) << error.what() << "\n" << text;
  }
}

TEST(LirText, LinesThatAreMissingOrTwiceAreErrors) {
  for (const Graph& graph : {chain(), defined_extents()}) {
    const std::string text = planned(graph).print();
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin) + 1;
      const std::string line = text.substr(begin, end - begin);
      const std::string without = text.substr(0, begin) + text.substr(end);
      const std::string twice = text.substr(0, end) + line + text.substr(end);
      for (const std::string& changed : {without, twice}) {
        EXPECT_NE(error_of([&] { LirModule::parse(changed); }), "no error") << changed;
        expect_error_or_same(changed);
      }
      begin = end;
    }
  }
}

TEST(LirText, RandomChangesAreErrors) {
  std::mt19937 random(7);
  const auto below = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  constexpr std::string_view kCharacters = "0123456789-* ,:()[]{}%\"/\nabnx";
  const std::string texts[] = {planned(chain()).print(), planned(parts()).print(),
                               planned(defined_extents()).print()};
  for (int i = 0; i < 300; ++i) {
    std::string text = texts[below(std::size(texts))];
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = below(text.size());
      const char c = kCharacters[below(kCharacters.size())];
      switch (below(3)) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        default:
          text.erase(at, 1 + below(20));
      }
    }
    expect_error_or_same(text);
  }
}

std::string fingerprint(const Graph& graph, const CompileOptions& options = {}) {
  return planned(graph, options).fingerprint();
}

TEST(LirFingerprint, ChangesWithEachOptionThatChangesNumbers) {
  // By the leaves of the graph, in its bodies too.
  const std::string flat = fingerprint(chain()), control = fingerprint(branch_and_loop());
  for (const PrecisionPolicy policy : {PrecisionPolicy::AlwaysF16, PrecisionPolicy::AlwaysBf16,
                                       PrecisionPolicy::AutoMixed, PrecisionPolicy::DynamicInt8}) {
    const CompileOptions options{.precision_policy = PrecisionOptions{.policy = policy}};
    EXPECT_NE(fingerprint(chain(), options), flat) << static_cast<int>(policy);
  }
  const CompileOptions narrow{.precision_policy =
                                  PrecisionOptions{.policy = PrecisionPolicy::AlwaysBf16}};
  EXPECT_NE(fingerprint(branch_and_loop(), narrow), control) << "the product is in a branch";
  const CompileOptions common{.dispatch = DispatchOptions{DispatchPolicy::ForceCommon, {}}};
  EXPECT_NE(fingerprint(chain(), common), flat) << "a softmax written out";
  const CompileOptions gpu{.device = Device::Cuda(0), .cuda_arch = 90};
  CompileOptions rounded = gpu;
  rounded.precision = "tf32";
  EXPECT_NE(fingerprint(chain(), gpu), flat);
  EXPECT_NE(fingerprint(chain(), rounded), fingerprint(chain(), gpu));
}

TEST(LirFingerprint, ChangesWithEachConstantShapeAndName) {
  const std::string text = of_weights().print(), one = fingerprint(of_weights());
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string other = text;
    for (size_t at = other.find(from); at != std::string::npos;
         at = other.find(from, at + to.size()))
      other.replace(at, from.size(), to);
    EXPECT_NE(other, text) << from;
    return fingerprint(Graph::parse(other));
  };
  EXPECT_NE(changed("constant(0.5)", "constant(0.25)"), one);
  EXPECT_NE(changed("16", "8"), one);
  EXPECT_NE(changed("batch", "b"), one);
  EXPECT_NE(changed("symbol seq 1..", "symbol seq 2.."), one);
  EXPECT_NE(changed("%w", "%v"), one);
  EXPECT_NE(changed("output \"y\"", "output \"z\""), one);
  EXPECT_EQ(fingerprint(Graph::parse(text)), one);
}

TEST(LirFingerprint, IsTheSameWithOptionsThatChangeNoNumbers) {
  const std::string one = fingerprint(chain());
  const CompileOptions same[] = {
      {.threads = 1},
      {.cpu = "avx2"},
      {.codegen = "llvm"},
      {.fusion = {.limits = FusionLimits{.max_steps = 2}}},
      {.memory = PlanOptions{.mode = PlanMode::Remap}},
      {.memory = PlanOptions{.mode = PlanMode::Disabled, .alignment = 128}},
      {.profile = Profile::Throughput},
      {.verbosity = Verbosity::Error},
      {.optimizer = OptStrategy::Plain{}},
  };
  for (const CompileOptions& options : same) EXPECT_EQ(fingerprint(chain(), options), one);
}

TEST(LirFingerprint, IsTheSameForEveryCpu) {
  CompileOptions narrow{.precision_policy = PrecisionOptions{PrecisionPolicy::AlwaysBf16}};
  const std::string here = fingerprint(of_weights(), narrow);
  narrow.cpu = "avx2";  // which has no products of bf16
  EXPECT_EQ(fingerprint(of_weights(), narrow), here);
}

TEST(LirModules, RefuseOptionsTheyWereNotPlannedBy) {
  const LirModule lir = planned(chain());
  const GraphModule module = GraphModule::define("chain", [&] { return lir; });
  const CompileOptions others[] = {
      {.device = Device::Null()},
      {.fusion = {.assert_clean = true}},
      {.memory = PlanOptions{.mode = PlanMode::Disabled}},
  };
  for (const CompileOptions& options : others) {
    EXPECT_THROW(Session().compile(lir, options), Error);
    EXPECT_THROW(CompilePipeline(options).compile_module(module), Error);
    EXPECT_THROW(inspect_pipeline(module, options), Error);
  }
  EXPECT_EQ(CompilePipeline().compile_module(module).lir.fingerprint(), lir.fingerprint());
}

}  // namespace
}  // namespace tenon
