// States and handles, through the public API: what runs leave behind, computed by hand, and a
// decoder with a KV cache against the same decoder that reads everything at once.
#include <gtest/gtest.h>

#include <cmath>

#include "driver/kernel_cache.h"
#include "tenon/tenon.h"
#include "tests/error_of.h"
#include "tests/temp_file.h"

namespace tenon {
namespace {

std::vector<float> floats(const std::optional<OwnedTensor>& tensor) {
  const auto values = tensor.value().as<float>();
  return {values.begin(), values.end()};
}

// A log of pairs, per batch; y is the sum of all of it.
Graph log_of_rows() {
  Graph g;
  const Value log =
      g.state("log", {{sym::batch(), sym::past(), 2}, DType::F32}, {.axis = 1, .capacity = 4});
  const Value rows = g.input("rows", {{sym::batch(), sym::seq(), 2}, DType::F32});
  g.set_outputs({{"y", g.reduce_sum(g.update(log, rows, sym::past()), {1})}});
  return g;
}

CompiledGraph begun() {
  CompiledGraph graph = Session().compile(log_of_rows());
  graph.bind_handle("log", TensorView(nullptr, DType::F32, {2, 0, 2}));
  return graph;
}

std::vector<float> add(CompiledGraph& graph, std::vector<float> rows) {
  const auto count = static_cast<int64_t>(rows.size()) / 4;
  return graph.run({{"rows", view(rows, {2, count, 2})}})[0];
}

using Floats = std::vector<float>;

TEST(State, GrowsFromRunToRun) {
  CompiledGraph graph = begun();
  EXPECT_EQ(add(graph, {1, 2, 5, 6}), (Floats{1, 2, 5, 6}));
  EXPECT_EQ(add(graph, {3, 4, 1, 1, 7, 8, 2, 2}), (Floats{5, 7, 14, 16}));
  const auto log = graph.read_handle("log");
  EXPECT_EQ(log->shape, (std::vector<int64_t>{2, 3, 2}));
  EXPECT_EQ(floats(log), (Floats{1, 2, 3, 4, 1, 1, 5, 6, 7, 8, 2, 2}));
  ASSERT_EQ(graph.outputs().size(), 1u);  // the state is none of them
}

TEST(State, RefusesMoreThanItsCapacityAndStaysAsItWas) {
  CompiledGraph graph = begun();
  add(graph, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4});
  const Floats before = floats(graph.read_handle("log"));
  const std::string error = error_of([&] { add(graph, {1, 2, 3, 4, 5, 6, 7, 8}); });
  EXPECT_NE(error.find("the state \"log\" has too small a capacity"), std::string::npos) << error;
  EXPECT_EQ(floats(graph.read_handle("log")), before);
  add(graph, {9, 9, 9, 9});
  EXPECT_EQ(graph.read_handle("log")->shape[1], 4);
}

TEST(State, KeepsItsLengthWhenARunIsCancelledBeforeItBegins) {
  CompiledGraph graph = begun();
  add(graph, {1, 2, 3, 4});
  std::stop_source source;
  source.request_stop();
  const Floats rows = {5, 6, 7, 8};
  EXPECT_THROW(graph.run({{"rows", view(rows, {2, 1, 2})}}, {.stop = source.get_token()}),
               Cancelled);
  EXPECT_EQ(floats(graph.read_handle("log")), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(add(graph, rows), (Floats{6, 8, 10, 12}));
}

TEST(State, SaysItselfHowLongItIsWhereRunsTakeBytes) {
  CompiledGraph graph = begun();
  const Floats rows = {1, 2, 3, 4};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(rows));
  const auto sum = [&] {
    const OutputSlot slot = graph.run_slots({{bytes}})[0];
    const auto* y = reinterpret_cast<const float*>(graph.arena_ptr() + slot.offset);
    return Floats(y, y + slot.length / 4);
  };
  EXPECT_EQ(user_error_of([&] { graph.set_extents({{"batch", 2}, {"past", 0}}); }),
            "[set_extents] seq has no value");
  graph.set_extents({{"batch", 2}, {"seq", 1}});
  EXPECT_EQ(sum(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(sum(), (Floats{2, 4, 6, 8}));
  graph.set_extents({{"batch", 2}, {"seq", 1}, {"past", 2}});
  EXPECT_EQ(sum(), (Floats{3, 6, 9, 12}));
  EXPECT_EQ(user_error_of(sum),
            "[run_slots] the state \"log\" f32[batch, past, 2] is [2, 3, 2], which are not the "
            "extents that set_extents was given: leave out those that only states have");
  graph.set_extents({{"batch", 4}, {"seq", 1}});
  EXPECT_NE(user_error_of(sum), "no error");
  EXPECT_EQ(graph.read_handle("log")->shape[1], 3);
}

TEST(State, AloneNeedsNoExtentsWhereRunsTakeBytes) {
  Graph g;
  const Value log = g.state("log", {{sym::past()}, DType::F32}, {.axis = 0, .capacity = 4});
  const Value x = g.input("x", {{1}, DType::F32});
  g.set_outputs({{"sum", g.reduce_sum(g.update(log, x, sym::past()), {0})}});
  CompiledGraph graph = Session().compile(g);
  graph.bind_handle("log", view(Floats{1, 2}, {2}));
  const Floats x_value = {4};
  const OutputSlot slot = graph.run_slots({{std::as_bytes(std::span(x_value))}})[0];
  EXPECT_EQ(*reinterpret_cast<const float*>(graph.arena_ptr() + slot.offset), 7);
}

TEST(State, IsTrimmed) {
  CompiledGraph graph = begun();
  add(graph, {1, 2, 3, 4, 5, 6, 7, 8});
  graph.trim_handle("log", 1);
  EXPECT_EQ(floats(graph.read_handle("log")), (Floats{1, 2, 5, 6}));
  EXPECT_EQ(add(graph, {1, 1, 1, 1}), (Floats{2, 3, 6, 7}));
  EXPECT_EQ(error_of([&] { graph.trim_handle("log", 3); }),
            "[trim_handle] \"log\" has a length of 2: it cannot become 3");
  EXPECT_EQ(error_of([&] { graph.trim_handle("log", -1); }),
            "[trim_handle] \"log\" has a length of 2: it cannot become -1");
}

TEST(State, IsNotTrimmedToWhatNoRunTakes) {
  Graph g;
  const Value fixed = g.state("fixed", {{3}, DType::F32}, {.axis = 0, .capacity = 3});
  const Value some = g.input("some", {{Symbol("n", {1, 4}), 2}, DType::F32});
  const Value scalar = g.input("scalar", {{}, DType::F32});
  g.set_outputs(
      {{"y", g.mul(g.update(fixed, g.constant(Floats{1}, {1}), 0), scalar)}, {"z", g.neg(some)}});
  CompiledGraph graph = Session().compile(g);
  graph.bind_handle("fixed", Floats{1, 2, 3});
  graph.bind_handle("some", view(Floats{1, 2, 3, 4}, {2, 2}));
  graph.bind_handle("scalar", Floats{2});
  EXPECT_EQ(error_of([&] { graph.trim_handle("fixed", 2); }),
            "[trim_handle] \"fixed\" is f32[3]: its length cannot become 2");
  EXPECT_EQ(error_of([&] { graph.trim_handle("some", 0); }),
            "[trim_handle] \"some\" is f32[n, 2]: its length cannot become 0");
  EXPECT_EQ(error_of([&] { graph.trim_handle("scalar", 0); }),
            "[trim_handle] \"scalar\" is a scalar");
  graph.trim_handle("some", 1);
  EXPECT_EQ(graph.run({}), (std::vector<Floats>{{2, 4, 6}, {-1, -2}}));
}

TEST(State, TakesMemoryOfItsCapacity) {
  CompiledGraph graph = begun();
  add(graph, {1, 2, 3, 4});
  const Handle fork = graph.fork_handle("log");
  const Floats rows = {5, 6, 7, 8};
  const auto uses = graph.memory_of({{"rows", view(rows, {2, 1, 2})}});
  EXPECT_EQ(uses[0].what, "input \"log\"");
  EXPECT_EQ(uses[0].bytes, 2 * 4 * 2 * 4);
  EXPECT_EQ(uses[1].bytes, 2 * 1 * 2 * 4);
}

TEST(State, GoesTwoWaysFromAFork) {
  CompiledGraph graph = begun();
  add(graph, {1, 2, 3, 4});
  const Handle fork = graph.fork_handle("log");
  EXPECT_EQ(add(graph, {1, 1, 1, 1}), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(fork.shape(), (std::vector<int64_t>{2, 1, 2}));
  graph.bind_handle("log", fork);
  EXPECT_EQ(add(graph, {2, 2, 2, 2}), (Floats{3, 4, 5, 6}));
  graph.bind_handle("log", fork);
  EXPECT_EQ(floats(graph.read_handle("log")), (Floats{1, 2, 3, 4}));
}

TEST(State, OfACloneIsItsOwn) {
  CompiledGraph graph = begun();
  add(graph, {1, 2, 3, 4});
  CompiledGraph clone = graph.clone();
  EXPECT_EQ(add(clone, {1, 1, 1, 1}), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(floats(graph.read_handle("log")), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(add(graph, {2, 2, 2, 2}), (Floats{3, 4, 5, 6}));
  EXPECT_EQ(floats(clone.read_handle("log")), (Floats{1, 2, 1, 1, 3, 4, 1, 1}));
}

TEST(State, IsReadBeforeItIsWrittenOver) {
  Graph g;
  const Value state = g.state("s", {{3}, DType::F32}, {.axis = 0, .capacity = 3});
  const Value x = g.input("x", {{3}, DType::F32});
  const Value moved = g.add(g.mul(state, g.scalar(DType::F32, 0.5)), x);  // as a moment is
  g.update(state, moved, 0);
  g.set_outputs({{"before", g.neg(state)}});
  CompiledGraph graph = Session().compile(g);
  graph.bind_handle("s", Floats{2, 4, 6});
  EXPECT_EQ(graph.run({{"x", Floats{1, 1, 1}}})[0], (Floats{-2, -4, -6}));
  EXPECT_EQ(graph.run({{"x", Floats{1, 0, 0}}})[0], (Floats{-2, -3, -4}));
  EXPECT_EQ(floats(graph.read_handle("s")), (Floats{2, 1.5, 2}));
}

TEST(State, MayBeAnOutputToo) {
  Graph g;
  const Value state = g.state("s", {{2}, DType::F32}, {.axis = 0, .capacity = 2});
  const Value once = g.update(state, g.constant(Floats{5}, {1}), 0);
  const Value twice = g.update(once, g.constant(Floats{7}, {1}), 1);
  g.set_outputs({{"first", once}, {"last", twice}, {"old", state}});
  CompiledGraph graph = Session().compile(g);
  graph.bind_handle("s", Floats{1, 2});
  EXPECT_EQ(graph.run({}), (std::vector<Floats>{{5, 2}, {5, 7}, {1, 2}}));
  EXPECT_EQ(floats(graph.read_handle("s")), (Floats{5, 7}));
}

TEST(State, CannotBeReadAfterItIsWrittenOver) {
  Graph g;
  const Value state = g.state("s", {{2}, DType::F32}, {.axis = 0, .capacity = 2});
  const Value x = g.input("x", {{2}, DType::F32});
  const Value sum = g.reduce_sum(g.update(state, x, 0), {0});
  g.set_outputs({{"y", g.op1("cum_sum", {g.mul(state, sum)}, {{"axis", int64_t{0}}})}});
  EXPECT_NE(error_of([&] { Session().compile(g); }).find("written over it"), std::string::npos);
}

TEST(State, IsSavedWithTheModelButNotItsValue) {
  const TempFile file(".tenon");
  begun().save(file.path());
  CompiledGraph graph = CompiledGraph::load(file.path());
  EXPECT_FALSE(graph.has_handle("log"));
  graph.bind_handle("log", TensorView(nullptr, DType::F32, {2, 0, 2}));
  add(graph, {1, 2, 5, 6});
  EXPECT_EQ(add(graph, {3, 4, 7, 8}), (Floats{4, 6, 12, 14}));
}

TEST(Handles, ThatWereMovedFromHaveNothing) {
  CompiledGraph graph = begun();
  Handle from = graph.fork_handle("log");
  const Handle to = std::move(from);
  const std::string moved = "this Handle was moved from: there is nothing in it";
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(user_error_of([&] { from.shape(); }), moved);
  EXPECT_EQ(user_error_of([&] { from.dtype(); }), moved);
  EXPECT_EQ(user_error_of([&] { graph.bind_handle("log", from); }), moved);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(to.dtype(), DType::F32);
}

TEST(Handles, RefuseWhatDoesNotFit) {
  CompiledGraph graph = Session().compile(log_of_rows());
  const Floats rows = {1, 2, 3, 4};
  const NamedInputs given = {{"rows", view(rows, {2, 1, 2})}};
  EXPECT_FALSE(graph.has_handle("log"));
  EXPECT_FALSE(graph.read_handle("log"));
  const std::string unbound =
      "[run] the state \"log\" f32[batch, past, 2] has no value: bind_handle gives it its first";
  EXPECT_EQ(user_error_of([&] { graph.run(given); }), unbound);
  EXPECT_EQ(user_error_of([&] { graph.commit_no_wait(given); }), unbound);
  graph.set_extents({{"batch", 2}, {"seq", 1}});
  EXPECT_EQ(user_error_of([&] { graph.run_slots({{std::as_bytes(std::span(rows))}}); }), unbound);
  EXPECT_EQ(error_of([&] {
              graph.run({{"rows", view(rows, {2, 1, 2})}, {"log", view(rows, {2, 1, 2})}});
            }),
            "[run] \"log\" f32[batch, past, 2] is a state: bind_handle gives it its first value");
  EXPECT_EQ(error_of([&] { graph.bind_handle("logs", view(rows, {2, 1, 2})); }),
            "[bind_handle] the model has no input \"logs\"");
  EXPECT_EQ(error_of([&] { graph.bind_handle("log", view(rows, {1, 1, 4})); }),
            "[bind_handle] input \"log\" is f32[batch, past, 2], but f32[1, 1, 4] is given");
  EXPECT_EQ(error_of([&] { graph.bind_handle("log", TensorView(nullptr, DType::F16, {2, 0, 2})); }),
            "[bind_handle] input \"log\" is f32[batch, past, 2], but f16[2, 0, 2] is given");
  EXPECT_EQ(error_of([&] { graph.bind_handle("log", view(Floats(10), {1, 5, 2})); }),
            "[bind_handle] the state \"log\" f32[batch, past, 2] has capacity 4, but [1, 5, 2] is "
            "given");
  EXPECT_EQ(error_of([&] { graph.fork_handle("log"); }), "[fork_handle] \"log\" has no handle");
  graph.bind_handle("rows", view(rows, {2, 1, 2}));
  graph.bind_handle("log", TensorView(nullptr, DType::F32, {2, 0, 2}));
  EXPECT_EQ(error_of([&] { graph.run(given); }),
            "[run] input \"rows\" has a handle, which feeds it: leave it out");
  EXPECT_EQ(graph.run({})[0], rows);
  EXPECT_EQ(graph.run({})[0], (Floats{2, 4, 6, 8}));
  graph.unbind_handle("rows");
  EXPECT_EQ(graph.run(given)[0], (Floats{3, 6, 9, 12}));
}

// y = 2 x + d
Graph doubled() {
  Graph g;
  const Value x = g.input("x", {{Symbol("n"), 2}, DType::F32});
  const Value d = g.input("d", {{2}, DType::F32});
  g.set_outputs(
      {{"y", g.add(g.mul(x, g.scalar(DType::F32, 2)), d)}, {"sum", g.reduce_sum(x, {0, 1})}});
  return g;
}

TEST(HandleFeed, GivesAnOutputToTheNextRun) {
  CompiledGraph graph = Session().compile(doubled());
  graph.bind_handle("x", view(Floats{1, 2}, {1, 2}));
  graph.set_handle_feed("x", "y");
  const Floats d = {1, 0};
  EXPECT_EQ(graph.run_feed_handle({{"d", d}}), (Floats{3, 4}));
  EXPECT_EQ(graph.run_feed_handle({{"d", d}}), (Floats{7, 8}));
  CompiledGraph clone = graph.clone();
  EXPECT_EQ(clone.run({{"d", d}})[0], (Floats{15, 16}));
  EXPECT_EQ(floats(graph.read_handle("x")), (Floats{7, 8}));
  Floats sum(1);
  graph.run_into({{"d", d}}, {{"sum", {sum.data(), DType::F32, {1, 1}}}});  // y is left out
  EXPECT_EQ(sum, (Floats{15}));
  EXPECT_EQ(floats(graph.read_handle("x")), (Floats{15, 16}));
  graph.set_handle_feed("x", std::nullopt);
  graph.run({{"d", d}});
  EXPECT_EQ(floats(graph.read_handle("x")), (Floats{15, 16}));
}

TEST(HandleFeed, BeginsWithWhatARunIsGiven) {
  CompiledGraph graph = Session().compile(doubled());
  graph.set_handle_feed("x", "y");
  const Floats d = {1, 0}, x = {1, 1, 2, 2};
  EXPECT_EQ(graph.run({{"x", view(x, {2, 2})}, {"d", d}})[0], (Floats{3, 2, 5, 4}));
  EXPECT_EQ(graph.run({{"d", d}})[0], (Floats{7, 4, 11, 8}));
}

// y = a + b, and z is of other extents.
CompiledGraph twice() {
  Graph g;
  const Value a = g.input("a", {{2, 2}, DType::F32}), b = g.input("b", {{2, 2}, DType::F32});
  g.set_outputs({{"y", g.add(a, b)}, {"z", g.neg(g.input("c", {{3, 2}, DType::F32}))}});
  return Session().compile(g);
}

TEST(HandleFeed, RefusesWhatIsNoValueOfTheInput) {
  CompiledGraph graph = Session().compile(doubled());
  EXPECT_EQ(error_of([&] { graph.set_handle_feed("z", "y"); }),
            "[set_handle_feed] the model has no input \"z\"");
  EXPECT_EQ(error_of([&] { graph.set_handle_feed("x", "z"); }),
            "[set_handle_feed] the model has no output \"z\"");
  EXPECT_EQ(error_of([&] { graph.set_handle_feed("d", "y"); }),
            "[set_handle_feed] output \"y\" f32[n, 2] is no value of input \"d\" f32[2]");
  graph.set_handle_feed("x", "y");
  graph.set_handle_feed("x", "y");  // again
  EXPECT_EQ(error_of([&] { twice().set_handle_feed("b", "z"); }),
            "[set_handle_feed] output \"z\" f32[3, 2] is no value of input \"b\" f32[2, 2]");
  CompiledGraph both = twice();
  both.set_handle_feed("a", "y");
  EXPECT_EQ(error_of([&] { both.set_handle_feed("b", "y"); }),
            "[set_handle_feed] output \"y\" feeds another handle");
  graph.set_handle_feed("x", std::nullopt);
  EXPECT_EQ(error_of([&] { graph.run_feed_handle({}); }),
            "[run_feed_handle] 0 outputs feed handles, one is needed");
  CompiledGraph log = Session().compile(log_of_rows());
  EXPECT_EQ(error_of([&] { log.set_handle_feed("log", "y"); }),
            "[set_handle_feed] \"log\" is a state: runs update it themselves");
}

// What is kept of x is as long as the run finds it to be.
TEST(HandleFeed, RefusesWhatOnlyARunKnowsTheExtentsOf) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {0, 8})}, DType::F32});
  const Dim found = Symbol("found", {0, 8});
  const Value at = g.op1("non_zero", {x}, {{"count", std::vector<Dim>{found}}});
  g.set_outputs({{"kept", g.gather(x, g.reshape(at, {found}), 0)}});
  CompiledGraph graph = Session().compile(g);
  EXPECT_EQ(error_of([&] { graph.set_handle_feed("x", "kept"); }, ErrorKind::Unsupported),
            "[set_handle_feed] the extents of output \"kept\" f32[found] only a run knows");
  graph.bind_handle("x", view(Floats{1, 0, 2}, {3}));
  EXPECT_EQ(graph.run({})[0], (Floats{1, 2}));
  EXPECT_EQ(graph.run({})[0], (Floats{1, 2}));  // the handle is what it was
  graph.bind_handle("x", graph.run_raw({})[0]);
  EXPECT_EQ(floats(graph.read_handle("x")), (Floats{1, 2}));
}

// A decoder block with a cache of 2048 tokens.
struct Decoder {
  static constexpr int64_t kHidden = 16, kHeads = 2, kKv = 8;
  CompiledGraph graph = Session().compile(module());

  static HirValue weight(HirModule& m, const std::string& name, std::vector<int64_t> extents) {
    const Shape shape(std::vector<Dim>(extents.begin(), extents.end()));
    Floats values(static_cast<size_t>(shape.elements().const_value()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.3f * std::sin(static_cast<float>(i * 5 + name.size() * 3));
    return m.param(name, {shape, DType::F32}, std::as_bytes(std::span(values)));
  }
  static HirModule module() {
    HirModule m;
    const HirValue x = m.input_batch_seq("x", kHidden);
    const TensorType cache{{sym::batch(), sym::past(), kKv}, DType::F32};
    const StateOptions grows{.axis = 1, .capacity = 2048};
    const hir::KvCache kv{m.state("keys", cache, grows), m.state("values", cache, grows)};
    const hir::DecoderWeights weights{.attention_norm = weight(m, "n1", {kHidden}),
                                      .q = {weight(m, "q", {kHidden, kHidden})},
                                      .k = {weight(m, "kk", {kHidden, kKv})},
                                      .v = {weight(m, "vvv", {kHidden, kKv})},
                                      .output = {weight(m, "o", {kHidden, kHidden})},
                                      .ffn_norm = weight(m, "n2", {kHidden}),
                                      .ffn = {.gate = weight(m, "g", {kHidden, 24}),
                                              .up = weight(m, "uu", {kHidden, 24}),
                                              .down = weight(m, "ddd", {24, kHidden})}};
    m.set_outputs(
        {{"y", m.decoder_block(
                   x, weights,
                   {.attention = {.heads = kHeads, .kv_heads = 1, .causal = true, .cache = kv}})}});
    return m;
  }
  void begin() {
    for (const char* name : {"keys", "values"})
      graph.bind_handle(name, TensorView(nullptr, DType::F32, {1, 0, kKv}));
  }
  Floats read(const Floats& x, int64_t first, int64_t count) {
    const std::span<const float> rows(x.data() + first * kHidden,
                                      static_cast<size_t>(count * kHidden));
    return graph.run({{"x", view(rows, {1, count, kHidden})}})[0];
  }
};

Floats tokens(int64_t count) {
  Floats x(static_cast<size_t>(count * Decoder::kHidden));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<float>(i * i % 1009));
  return x;
}

TEST(KvCache, DecodesTokenByTokenWhatTheWholePrefixGives) {
  constexpr int64_t kCount = 150, kPrompt = 5;
  Decoder decoder;
  const Floats x = tokens(kCount);
  decoder.begin();
  const Floats whole = decoder.read(x, 0, kCount);
  const Floats keys = floats(decoder.graph.read_handle("keys"));
  decoder.begin();
  const int64_t compiled = driver::kernel_cache().made();
  Floats y = decoder.read(x, 0, kPrompt);
  for (int64_t i = kPrompt; i < kCount; ++i) {
    const Floats next = decoder.read(x, i, 1);
    y.insert(y.end(), next.begin(), next.end());
  }
  EXPECT_EQ(y, whole);  // to the bit: rows do not depend on what runs with them
  EXPECT_EQ(driver::kernel_cache().made(), compiled);
  EXPECT_EQ(floats(decoder.graph.read_handle("keys")), keys);
}

TEST(KvCache, TakesNoMoreMemoryForALongerPast) {
  Decoder decoder;
  const Floats x = tokens(1001);
  decoder.begin();
  decoder.read(x, 0, 10);
  decoder.read(x, 10, 1);
  const int64_t after_few = decoder.graph.arena_bytes();
  decoder.begin();
  decoder.read(x, 0, 1000);
  decoder.read(x, 1000, 1);
  EXPECT_EQ(decoder.graph.arena_bytes(), after_few);
}

}  // namespace
}  // namespace tenon
