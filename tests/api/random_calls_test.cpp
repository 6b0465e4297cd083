// Graphs and compiled graphs under calls that make no sense (chance.h): in any order, on live,
// moved-from and empty objects.
#include <gtest/gtest.h>

#include "tests/api/chance.h"

namespace tenon {
namespace {

class GraphPlayer : public Chance {
 public:
  using Chance::Chance;

  void act() {
    using Player = GraphPlayer;
    static constexpr void (Player::* kActions[])() = {
        &Player::new_graph,   &Player::leaf,       &Player::leaf,      &Player::op,
        &Player::op,          &Player::fused_op,   &Player::movement,  &Player::outputs,
        &Player::outputs,     &Player::compile,    &Player::run,       &Player::run,
        &Player::run_into,    &Player::run_slots,  &Player::read_row,  &Player::set_param,
        &Player::set_param,   &Player::move_graph, &Player::move_run,  &Player::ask,
        &Player::set_extents, &Player::text,       &Player::run_later, &Player::handle,
        &Player::handle,      &Player::feed,       &Player::active};
    (this->*one_of(kActions))();
  }

 private:
  Value value() { return values_.empty() || below(16) == 0 ? Value() : one_of(values_); }
  std::vector<Value> some_values() {
    std::vector<Value> result(below(4));
    for (Value& each : result) each = value();
    return result;
  }
  CompiledGraph& compiled() {
    if (compiled_.empty()) compiled_.push_back(below(2) ? simple() : with_state());
    return one_of(compiled_);
  }
  static CompiledGraph with_state() {
    Graph g;
    const Value z = g.state("z", {{sym::past(), 4}, DType::F32}, {.axis = 0, .capacity = 7});
    const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
    g.set_outputs({{"y", g.neg(x)}, {"b", g.reduce_sum(g.update(z, x, sym::past()), {0})}});
    CompiledGraph graph = Session().compile(g);
    graph.bind_handle("z", TensorView(nullptr, DType::F32, {0, 4}));
    return graph;
  }
  static CompiledGraph simple() {
    Graph g;
    const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
    g.set_outputs({{"y", g.relu(g.add(x, g.param("w", {{4}, DType::F32})))}});
    return Session().compile(g);
  }

  void new_graph() {
    if (graphs_.size() > 3) graphs_.clear(), values_.clear();
    graphs_.emplace_back();
  }
  void leaf() {
    Graph& g = any(graphs_);
    const TensorType wanted = type();
    switch (below(6)) {
      case 0:
      case 1:
        values_.push_back(g.input(name(), wanted));
        break;
      case 2:
        values_.push_back(g.param(name(), wanted));
        break;
      case 3: {
        const auto bytes = static_cast<size_t>(below(100));
        values_.push_back(g.param(name(), wanted, {memory(static_cast<int64_t>(bytes)), bytes}));
        break;
      }
      case 4:
        values_.push_back(g.constant(std::vector<float>(below(9), 1.0f), {dim()}));
        break;
      default:
        values_.push_back(below(2) ? g.dims({dim(), dim()}) : g.scalar(dtype(), 2.5));
    }
  }
  void op() {
    const std::string name = op_name();
    for (Value& result : any(graphs_).op(name, some_values(), attributes_of(name)))
      values_.push_back(result);
  }
  void fused_op() {
    Graph& g = any(graphs_);
    const auto activation = one_up_to(ActivationKind::Sigmoid);
    switch (below(6)) {
      case 0:
        values_.push_back(g.attention(value(), value(), value(),
                                      {.heads = extent(),
                                       .head_dim = extent(),
                                       .kv_heads = extent(),
                                       .mask = value(),
                                       .causal = often(),
                                       .window = extent(),
                                       .softcap = static_cast<double>(small())}));
        break;
      case 1:
        values_.push_back(g.rotary(value(), value(), value(), {extent(), often()}));
        break;
      case 2:
        values_.push_back(g.linear(value(), value(), value(), value(), activation, value()));
        break;
      case 3:
        values_.push_back(g.gated_linear(value(), value(), value(), activation));
        break;
      case 4:
        values_.push_back(g.rms_norm(value(), value(), static_cast<double>(small())));
        break;
      default:
        values_.push_back(g.binary(one_up_to(BinaryKind::Or), value(), value()));
    }
  }
  void movement() {
    Graph& g = any(graphs_);
    switch (below(6)) {
      case 0:
        values_.push_back(g.reshape(value(), shape()));
        break;
      case 1:
        values_.push_back(g.transpose(value(), {extent() % 3, extent() % 3}));
        break;
      case 2:
        values_.push_back(g.expand(value(), shape()));
        break;
      case 3:
        values_.push_back(g.slice(value(), {dim(), dim()}, {dim(), dim()}, {extent(), extent()}));
        break;
      case 4:
        values_.push_back(g.concat(some_values(), extent()));
        break;
      default:
        for (const Value& part : g.split(value(), extent(), {dim(), dim()}))
          values_.push_back(part);
    }
  }
  void outputs() {
    std::vector<Graph::Output> list(often() ? 1 : below(3));
    for (auto& output : list) output = {name(), value()};
    any(graphs_).set_outputs(list);
  }
  void compile() {
    Graph& g = any(graphs_);
    if (often()) g.set_outputs({{name(), value()}});
    keep(compiled_, Session(options()).compile(g, options()));
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
        graph.run_read_outputs(inputs(), std::vector<int>{small(), 0});
        break;
      default: {
        std::stop_source stop;
        if (seldom()) stop.request_stop();
        graph.run_raw(inputs(), {.stop = stop.get_token()});
      }
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
    std::vector<std::span<const std::byte>> spans;
    for (size_t i = below(3); i-- > 0;) {
      const size_t bytes = below(2) ? 64 : below(100);
      spans.emplace_back(memory(static_cast<int64_t>(bytes)), bytes);
    }
    CompiledGraph& graph = compiled();
    for (const OutputSlot& slot : graph.run_slots(spans)) {
      for (int64_t i = 0; i < slot.length; ++i)
        sum_ += std::to_integer<int>(graph.arena_ptr()[slot.offset + i]);
    }
  }
  void run_later() {
    CompiledGraph& graph = compiled();
    switch (below(4)) {
      case 0:
        graph.commit_no_wait(inputs(), {.memory_limit = seldom() ? extent() : 0});
        break;
      case 1:
        for (const TensorView& output : graph.sync_pending()) see(output);
        break;
      case 2:
        graph.commit_no_wait(inputs());
        for (const TensorView& output : graph.sync_pending()) see(output);
        break;
      default: {
        std::vector<NamedInputs> sets(below(4));
        for (NamedInputs& set : sets) set = inputs();
        graph.run_pipelined(sets);
      }
    }
  }
  std::string input() { return often() ? (below(2) ? "x" : "z") : name(); }
  void handle() {
    CompiledGraph& graph = compiled();
    switch (below(6)) {
      case 0:
        graph.bind_handle(input(), view());
        break;
      case 1:
        if (!handles_.empty()) graph.bind_handle(input(), one_of(handles_));
        break;
      case 2:
        graph.unbind_handle(input());
        break;
      case 3:
        if (const auto value = graph.read_handle(input()))
          sum_ += static_cast<int>(value->bytes.size());
        break;
      case 4:
        keep(handles_, graph.fork_handle(input()));
        break;
      default:
        graph.trim_handle(input(), extent());
    }
    if (seldom() && !handles_.empty()) {
      const Handle moved = std::move(one_of(handles_));
      moved.shape(), moved.dtype();
    }
  }
  void feed() {
    CompiledGraph& graph = compiled();
    graph.set_handle_feed(input(), below(2) ? std::nullopt : std::optional<std::string>("y"));
    graph.run_feed_handle(inputs());
  }
  void active() {
    CompiledGraph& graph = compiled();
    if (seldom()) graph.clear_active_extent();
    graph.set_active_extent(extent(), often() ? 4 : extent());
    graph.active_extent_report();
    graph.run(inputs());
  }
  void see(const TensorView& output) {
    int64_t bytes = size_of(output.dtype);
    for (const int64_t e : output.shape) bytes *= e;
    for (int64_t i = 0; i < bytes; ++i)
      sum_ += std::to_integer<int>(static_cast<const std::byte*>(output.data)[i]);
  }
  void read_row() { compiled().read_output_row(small(), extent(), extent()); }
  void set_param() {
    CompiledGraph& graph = compiled();
    const std::string param = often() ? "w" : name();
    if (below(2)) {
      graph.set_param(param, view());
    } else {
      const size_t bytes = below(2) ? 16 : below(40);
      graph.set_param_typed(param, {memory(static_cast<int64_t>(bytes)), bytes}, dtype());
    }
  }
  void set_extents() { compiled().set_extents(binding()); }
  void ask() {
    CompiledGraph& graph = compiled();
    graph.inputs(), graph.outputs(), graph.params(), graph.dims(), graph.device(), graph.stats();
    graph.fusion_report().to_json(), graph.dispatch_report().to_json();
    graph.flops_of_last_run(), graph.arena_bytes(), graph.threads();
    if (below(2)) graph.memory_of(inputs());
    if (below(2)) graph.peak_bytes(binding());
    graph.set_threads(small());
  }

  void move_graph() {
    Graph& from = any(graphs_);
    Graph other = seldom() ? std::move(from) : Graph(from);
    if (below(2)) {
      keep(graphs_, std::move(other));
    } else {
      any(graphs_) = std::move(other);
    }
  }
  void move_run() {
    CompiledGraph& from = compiled();
    CompiledGraph other = seldom() ? std::move(from) : from.clone();
    if (below(2)) {
      keep(compiled_, std::move(other));
    } else {
      compiled() = below(2) ? std::move(other) : simple();
    }
  }
  void text() {
    std::string text = any(graphs_).print();
    if (!text.empty() && often()) text[below(text.size())] = static_cast<char>(below(256));
    keep(graphs_, Graph::parse(text));
  }

  int sum_ = 0;
  std::vector<Graph> graphs_;
  std::vector<Value> values_;
  std::vector<CompiledGraph> compiled_;
  std::vector<Handle> handles_;
};

TEST(RandomCalls, OfGraphsAreDoneOrRefused) { expect_done_or_refused<GraphPlayer>(200); }

}  // namespace
}  // namespace tenon
