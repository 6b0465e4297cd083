// The public API under calls that make no sense: any names, sizes, dtypes and orders, on live,
// moved-from and empty objects; pointers are valid for their stated length. Whatever is refused is
// an Error, and what was valid before is valid after. What a memory error would be shows under
// ASan.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>

#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr const char* kNames[] = {"x",    "y", "w", "b", "", "batch", "a name with spaces",
                                  "\xff", "z"};
constexpr DType kDTypes[] = {DType::F32,  DType::F32, DType::I64, DType::Bool,
                             DType::BF16, DType::F64, DType::I8};
constexpr const char* kOps[] = {"relu",       "add",    "matmul",    "softmax",
                                "reshape",    "concat", "gather",    "layer_norm",
                                "no_such_op", "where",  "reduce_sum"};

class Monkey {
 public:
  explicit Monkey(uint32_t seed) : random_(seed) {}

  void play(int calls) {
    for (int i = 0; i < calls; ++i) {
      static constexpr void (Monkey::* kActions[])() = {
          &Monkey::new_graph, &Monkey::build,     &Monkey::build,     &Monkey::build,
          &Monkey::outputs,   &Monkey::outputs,   &Monkey::compile,   &Monkey::compile_lir,
          &Monkey::run,       &Monkey::run,       &Monkey::run_into,  &Monkey::run_slots,
          &Monkey::read_row,  &Monkey::set_param, &Monkey::set_param, &Monkey::move_around,
          &Monkey::ask,       &Monkey::blocks,    &Monkey::text,      &Monkey::set_extents,
          &Monkey::specialize};
      const auto action = kActions[below(std::size(kActions))];
      try {
        (this->*action)();
        ++done_;
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::Internal) << error.what();
        EXPECT_FALSE(std::string_view(error.what()).empty());
        ++refused_;
      }
    }
  }
  int done() const { return done_; }
  int refused() const { return refused_; }

 private:
  size_t below(size_t count) { return random_() % count; }
  bool often() { return below(4) != 0; }
  std::string name() { return kNames[below(std::size(kNames))]; }
  DType dtype() { return kDTypes[below(std::size(kDTypes))]; }
  int64_t extent() {
    constexpr int64_t kExtents[] = {4, 4, 4, 2, 3, 1, 0, -1, 7, int64_t{1} << 40};
    return often() ? kExtents[below(6)] : kExtents[below(std::size(kExtents))];
  }
  Dim dim() {
    if (below(3) != 0) return extent();
    return below(2) ? Dim(sym::batch()) : Dim(sym::seq());
  }
  TensorType type() {
    std::vector<Dim> dims(below(4));
    for (Dim& d : dims) d = dim();
    return {Shape(dims), dtype()};
  }
  template <typename T>
  T& any(std::vector<T>& list) {
    if (list.empty()) list.emplace_back();
    return list[below(list.size())];
  }
  Value value() { return below(12) == 0 ? Value() : any(values_); }
  CompiledGraph& compiled() {
    if (compiled_.empty()) compiled_.push_back(simple());
    return compiled_[below(compiled_.size())];
  }
  static CompiledGraph simple() {
    Graph g;
    const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
    g.set_outputs({{"y", g.relu(g.add(x, g.param("w", {{4}, DType::F32})))}});
    return Session().compile(g);
  }

  // Memory of exactly the bytes that a view says, so that one byte more is found.
  TensorView view() {
    std::vector<int64_t> shape(often() ? 2 : below(4));
    int64_t elements = 1;
    for (int64_t& e : shape) {
      e = extent();
      if (e > 64) e = 64;
      elements *= std::max<int64_t>(e, 0);
    }
    const DType type = often() ? DType::F32 : dtype();
    auto& bytes = memory_.emplace_back(static_cast<size_t>(elements * 8 + 1), std::byte{0});
    bytes.resize(static_cast<size_t>(elements * size_of(type)));
    bytes.shrink_to_fit();
    if (below(8) == 0) {
      TensorView plain(std::span<const float>(reinterpret_cast<const float*>(bytes.data()),
                                              bytes.size() / sizeof(float)));
      return plain;
    }
    return {below(10) == 0 ? nullptr : bytes.data(), type, shape};
  }
  NamedInputs inputs() {
    NamedInputs result;
    for (size_t i = below(4); i-- > 0;) result[often() ? "x" : name()] = view();
    return result;
  }

  void new_graph() {
    if (graphs_.size() > 8) graphs_.clear(), values_.clear();
    graphs_.emplace_back();
  }
  void build() {
    Graph& g = any(graphs_);
    switch (below(6)) {
      case 0:
        values_.push_back(g.input(name(), type()));
        break;
      case 1:
        values_.push_back(g.param(name(), type()));
        break;
      case 2:
        values_.push_back(g.constant(std::vector<float>(below(9), 1.0f), {dim()}));
        break;
      case 3:
        values_.push_back(g.attention(value(), value(), value(),
                                      {.heads = extent(), .head_dim = extent(), .mask = value()}));
        break;
      default: {
        std::vector<Value> operands(below(4));
        for (Value& operand : operands) operand = value();
        Attributes attributes;
        if (below(2)) attributes["axis"] = extent();
        if (below(4) == 0) attributes[name()] = std::vector<int64_t>{extent(), extent()};
        for (Value& result : g.op(kOps[below(std::size(kOps))], operands, attributes))
          values_.push_back(result);
      }
    }
  }
  void outputs() {
    std::vector<Graph::Output> list(below(3));
    for (auto& output : list) output = {name(), value()};
    any(graphs_).set_outputs(list);
  }
  CompileOptions options() {
    CompileOptions result;
    if (below(8) == 0) result.device = Device::Cuda(static_cast<int>(below(3)) - 1);
    if (below(8) == 0) result.threads = static_cast<int>(extent());
    if (below(8) == 0) result.cpu = name();
    if (below(8) == 0) result.codegen = name();
    if (below(8) == 0) result.memory = PlanOptions{.alignment = extent()};
    if (below(8) == 0) result.dim_binding = binding();
    if (below(8) == 0) result.dispatch = DispatchOptions{DispatchPolicy::ForceCommon, {}};
    if (below(8) == 0) result.supported_ops = {{kOps[below(std::size(kOps))]}};
    if (below(8) == 0) result.fusion.skip = {{name()}};
    return result;
  }
  DimBinding binding() {
    std::map<std::string, int64_t> values;
    if (often()) values["batch"] = extent();
    if (below(2)) values["seq"] = extent();
    if (below(6) == 0) values[name()] = extent();
    return DimBinding(values);
  }
  void keep(CompiledGraph graph) {
    if (compiled_.size() > 6) compiled_.erase(compiled_.begin());
    compiled_.push_back(std::move(graph));
  }
  void compile() { keep(Session(options()).compile(any(graphs_), options())); }
  void compile_lir() {
    const CompilePipeline pipeline(options());
    lirs_.push_back(pipeline.compile_graph(any(graphs_)).lir);
    keep(Session().compile(any(lirs_)));
  }
  void specialize() {
    if (lirs_.size() > 6) lirs_.clear();
    lirs_.push_back(any(lirs_).specialize(binding()));
    any(lirs_).nodes();
    any(lirs_).phase(below(20));
  }
  void run() {
    CompiledGraph& graph = compiled();
    switch (below(4)) {
      case 0:
        graph.run(inputs());
        break;
      case 1:
        graph.run_typed(inputs(), {.memory_limit = extent()});
        break;
      case 2:
        graph.run_read_outputs(inputs(), std::vector<int>{static_cast<int>(extent() % 100), 0});
        break;
      default:
        graph.run_raw(inputs());
    }
  }
  void run_into() {
    NamedOutputs outputs;
    for (size_t i = below(3); i-- > 0;) {
      const TensorView to = view();
      outputs[often() ? "y" : name()] = {const_cast<void*>(to.data), to.dtype, to.shape};
    }
    compiled().run_into(inputs(), outputs);
  }
  void run_slots() {
    std::vector<std::vector<std::byte>> data(below(3));
    std::vector<std::span<const std::byte>> spans;
    for (auto& bytes : data) {
      bytes.resize(below(2) ? 64 : below(100));
      spans.emplace_back(bytes);
    }
    CompiledGraph& graph = compiled();
    for (const OutputSlot& slot : graph.run_slots(spans)) {
      for (int64_t i = 0; i < slot.length; ++i)
        sum_ += std::to_integer<int>(graph.arena_ptr()[slot.offset + i]);
    }
  }
  void read_row() {
    compiled().read_output_row(static_cast<int>(extent() % 100), extent(), extent());
  }
  void set_param() {
    CompiledGraph& graph = compiled();
    const std::string param = often() ? "w" : name();
    if (below(2)) {
      graph.set_param(param, view());
    } else {
      const std::vector<std::byte> bytes(below(2) ? 16 : below(40));
      graph.set_param_typed(param, bytes, often() ? DType::F32 : dtype());
    }
  }
  void set_extents() { compiled().set_extents(binding()); }
  void move_around() {
    switch (below(5)) {
      case 0: {
        Graph& from = any(graphs_);
        Graph moved = std::move(from);
        graphs_.push_back(std::move(moved));
        break;
      }
      case 1: {
        CompiledGraph moved = std::move(compiled());
        keep(std::move(moved));
        break;
      }
      case 2:
        keep(compiled().clone());
        break;
      case 3:
        graphs_.push_back(any(graphs_));
        break;
      default:
        compiled() = simple();
    }
  }
  void ask() {
    CompiledGraph& graph = compiled();
    graph.inputs(), graph.outputs(), graph.params(), graph.dims();
    graph.memory_of(inputs());
    graph.peak_bytes(binding());
    graph.set_threads(static_cast<int>(extent() % 100));
  }
  void blocks() {
    HirModule& m = any(modules_);
    if (blocks_.empty() || below(3) == 0) blocks_.push_back(m.input(name(), type()));
    const auto block = [&] { return below(10) == 0 ? HirValue() : any(blocks_); };
    switch (below(6)) {
      case 0:
        blocks_.push_back(m.linear(block(), block(), {.bias = block()}));
        break;
      case 1:
        blocks_.push_back(m.rms_norm(block(), block()));
        break;
      case 2:
        blocks_.push_back(m.attention(block(), block(), block(), {.heads = extent()}));
        break;
      case 3:
        m.set_outputs({{name(), block()}});
        keep(Session(options()).compile(m));
        break;
      case 4:
        modules_.push_back(std::move(m));
        break;
      default:
        modules_.emplace_back();
    }
  }
  void text() {
    std::string text = below(2) ? any(graphs_).print() : any(lirs_).print();
    if (!text.empty()) text[below(text.size())] = static_cast<char>(random_());
    if (below(2)) {
      graphs_.push_back(Graph::parse(text));
    } else {
      lirs_.push_back(LirModule::parse(text));
    }
  }

  std::mt19937 random_;
  int done_ = 0, refused_ = 0, sum_ = 0;
  std::vector<Graph> graphs_;
  std::vector<Value> values_;
  std::vector<CompiledGraph> compiled_;
  std::vector<LirModule> lirs_;
  std::vector<HirModule> modules_;
  std::vector<HirValue> blocks_;
  std::vector<std::vector<std::byte>> memory_;
};

// TENON_FUZZ_COUNT: how many sequences, from TENON_FUZZ_SEED on.
int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

TEST(RandomCalls, AreDoneOrRefused) {
  const int first = number("TENON_FUZZ_SEED", 1), count = number("TENON_FUZZ_COUNT", 20);
  int done = 0, refused = 0;
  for (int seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(seed);
    Monkey monkey(static_cast<uint32_t>(seed));
    monkey.play(200);
    done += monkey.done();
    refused += monkey.refused();
  }
  EXPECT_GT(done, count * 20);  // it is no test of refusals alone
  EXPECT_GT(refused, count * 20);
}

}  // namespace
}  // namespace tenon
