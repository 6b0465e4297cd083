#include "lazy/schedule_cache.h"

#include <atomic>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/knobs.h"
#include "cache/memory_store.h"
#include "compiled/device_id.h"
#include "driver/pipeline.h"
#include "lazy/device_memory.h"
#include "plan/plan_options.h"
#include "tune/tuner.h"

namespace tenon::lazy {
namespace {

struct KeyHash {
  size_t operator()(const SegmentKey& key) const {
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (const uint64_t word : key) {
      hash ^= word;
      hash *= 0xFF51AFD7ED558CCDu;
      hash ^= hash >> 32;
    }
    return hash;
  }
};
using Store = cache::MemoryStore<SegmentKey, CompiledSegment, KeyHash>;

constexpr size_t kMostEntries = 1024;
std::atomic<int64_t> compiles = 0;

Store& store() {
  static auto& store = *new Store(kMostEntries, cache::Order::Lru);
  return store;
}

// What decides code beside the structure.
void add_config(SegmentKey& key, const Device& device, const PrepareConfig& config) {
  key.push_back(static_cast<uint64_t>(device.kind()) << 32 | static_cast<uint64_t>(device.index()));
  uint64_t optimizer = 0;
  if (config.optimizer)
    optimizer = config.optimizer->is<OptStrategy::Plain>()
                    ? 2
                    : 1 + 2 * static_cast<uint64_t>(config.optimizer->beam_width());
  const uint64_t generator = config.generator.empty() ? 0 : config.generator == "c" ? 2 : 1;
  const uint64_t planner = config.planner ? 1 + static_cast<uint64_t>(*config.planner) : 0;
  key.push_back(optimizer << 16 | generator << 8 | planner);
}

driver::Options options_of(const Device& device, const PrepareConfig& config) {
  driver::Options options;
  options.name = "tensors";
  options.device = device_id(device).kind;
  const bool is_cpu = options.device == program::DeviceKind::Cpu;
  if (device.kind() == Device::Kind::Cuda)
    options.cuda_arch = runtime::cuda_arch(device.index()).take();
  else
    options.codegen = config.generator;
  options.cpu = cpu_info();
  options.optimizer = config.optimizer;
  if (config.planner) options.plan = plan::Options{.mode = *config.planner};
  const int width = is_cpu ? driver::cpu_strategy(options).beam_width() : 0;
  if (width > 0) tune::use_tuner(options, {.width = width, .store = &cache::default_disk_store()});
  return options;
}

std::shared_ptr<CompiledSegment> compile(const Trace& trace, const Segment& segment,
                                         const PrepareConfig& config) {
  ++compiles;
  const graph::Graph graph = graph_of(trace, segment);
  driver::Options options = options_of(segment.device, config);
  for (const auto& [name, symbol] : graph.symbols()) options.outer_symbols.insert(name);
  driver::Compiled made = driver::compile(graph, options);
  std::vector<Ref<graph::Node>> rules;
  for (const int step : segment.steps) {
    const Trace::Step& each = trace.steps[static_cast<size_t>(step)];
    rules.push_back(each.operation->rule);
    for (const TraceValue& operand : each.operands) {
      if (operand.step >= 0)
        rules.push_back(trace.steps[static_cast<size_t>(operand.step)].operation->rule);
    }
  }
  return std::make_shared<CompiledSegment>(
      std::make_shared<const program::Program>(std::move(made.program)), segment.device,
      std::move(rules));
}

}  // namespace

std::unique_ptr<runtime::Executor> CompiledSegment::take_executor() {
  const std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    auto executor = std::move(idle_.back());
    idle_.pop_back();
    return executor;
  }
  if (!first_) first_ = runtime::Executor::load(program_, open_stream(device_)).take();
  return first_->clone(open_stream(device_)).take();
}

void CompiledSegment::give_back(std::unique_ptr<runtime::Executor> executor) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle && executor->arena_bytes() <= kMostIdleBytes)
    idle_.push_back(std::move(executor));
}

CachedSegment compiled(const Trace& trace, const Segment& segment, const PrepareConfig& config) {
  if (!config.schedule_cache.value_or(true)) return {compile(trace, segment, config)};
  SegmentKey key = segment.key;
  add_config(key, segment.device, config);
  if (auto found = store().find(key)) return {std::move(found), true};
  bool was_there = true;
  auto made = store().get_or_make(key, [&] {
    was_there = false;
    return compile(trace, segment, config);
  });
  return {std::move(made), was_there};
}

ScheduleCacheStats schedule_cache_stats() { return {compiles.load(), store().size()}; }
void clear_schedule_cache() { store().clear(); }

}  // namespace tenon::lazy
