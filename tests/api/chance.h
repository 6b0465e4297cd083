// Calls that make no sense, made up by chance: names, sizes, dtypes, memory of exactly the stated
// length, options of every kind. A player is a class of actions that derives from Chance; whatever
// is refused must be an Error, and none that says Tenon has a bug. What a memory error would be
// shows under ASan.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "graph/attribute_schema.h"
#include "tenon/tenon.h"

namespace tenon {

class Chance {
 public:
  explicit Chance(uint32_t seed) : random_(seed) {}

 protected:
  size_t below(size_t count) { return random_() % count; }
  bool often() { return below(4) != 0; }
  bool seldom() { return below(8) == 0; }
  template <typename List>
  auto& one_of(List& list) {
    return list[below(std::size(list))];
  }
  // Of a list that may be empty; it has as few objects as a test needs.
  template <typename T>
  T& any(std::vector<T>& list) {
    if (list.empty()) list.emplace_back();
    return one_of(list);
  }
  template <typename T>
  static T& keep(std::vector<T>& list, T object) {
    if (list.size() > 3) list.erase(list.begin());
    return list.emplace_back(std::move(object));
  }
  template <typename Enum>
  Enum one_up_to(Enum last) {
    return static_cast<Enum>(below(static_cast<size_t>(last) + 1));
  }

  std::string name() {
    static constexpr const char* kNames[] = {
        "x", "y", "w", "b", "", "batch", "a name with spaces", "\xff", "z"};
    return one_of(kNames);
  }
  // Of the whole table, those that are easy to call more often.
  std::string op_name() {
    static constexpr const char* kEasy[] = {"relu", "add", "matmul", "softmax", "concat", "where"};
    if (below(2)) return one_of(kEasy);
    return seldom() ? "no_such_op" : std::string(one_of(graph::kOps).text);
  }
  // Most of those that the op takes, most of them of the right kind.
  Attributes attributes_of(const std::string& op) {
    enum : bool { Optional, Required };
    static constexpr graph::AttributeRow kRows[] = {
#define ATTRIBUTE(Name, attribute, kind, required) \
  {graph::Op::Name, attribute, graph::AttributeKind::kind, required},
#include "graph/ops.def"
    };
    Attributes result;
    for (const graph::AttributeRow& row : kRows) {
      if (graph::info(row.op).text != op || below(16) == 0 || (!row.required && often())) continue;
      result[std::string(row.name)] =
          attribute(below(16) == 0 ? one_up_to(graph::AttributeKind::Graph) : row.kind);
    }
    if (below(16) == 0) result[name()] = extent();
    return result;
  }
  Attribute attribute(graph::AttributeKind kind) {
    switch (kind) {
      case graph::AttributeKind::Integer:
        return extent();
      case graph::AttributeKind::Number:
        return number();
      case graph::AttributeKind::Text:
        return name();
      case graph::AttributeKind::DType:
        return dtype();
      case graph::AttributeKind::Integers:
        return some(&Chance::axis);
      case graph::AttributeKind::Dims:
        return some(&Chance::dim);
      case graph::AttributeKind::Numbers:
        return some(&Chance::number);
      case graph::AttributeKind::Graph:
      case graph::AttributeKind::Function:  // not of the public variant
        break;
    }
    Graph body;
    const Value x = body.input("x", type());
    body.set_outputs({{"y", often() ? body.relu(x) : x}});
    return std::make_shared<const Graph>(std::move(body));
  }
  template <typename T>
  std::vector<T> some(T (Chance::*make)()) {
    std::vector<T> result(below(4));
    for (T& each : result) each = (this->*make)();
    return result;
  }
  DType dtype() { return often() ? DType::F32 : static_cast<DType>(below(std::size(kDTypes))); }
  int64_t extent() {
    static constexpr int64_t kExtents[] = {4, 4, 4, 2, 3, 1, 0, -1, 7, int64_t{1} << 40};
    return often() ? kExtents[below(6)] : one_of(kExtents);
  }
  int small() { return static_cast<int>(extent() % 100); }
  int64_t axis() { return often() ? extent() % 3 : extent(); }
  double number() { return static_cast<double>(small()) / 4; }
  Dim dim() {
    if (below(3) != 0) return extent();
    return below(2) ? Dim(sym::batch()) : Dim(sym::seq());
  }
  Shape shape() {
    static const Shape kFitting[] = {{sym::batch(), 4}, {4, 4}, {4}, {sym::batch(), sym::seq(), 4}};
    if (often()) return one_of(kFitting);
    std::vector<Dim> dims(below(4));
    for (Dim& d : dims) d = dim();
    return Shape(dims);
  }
  TensorType type() { return {shape(), dtype()}; }
  DimBinding binding() {
    std::map<std::string, int64_t> values;
    if (often()) values["batch"] = extent();
    if (below(2)) values["seq"] = extent();
    if (seldom()) values[name()] = extent();
    return DimBinding(values);
  }

  // Memory of exactly these bytes, so that one byte more is found. It lives as long as the player.
  std::byte* memory(int64_t bytes) {
    return memory_.emplace_back(std::make_unique<std::byte[]>(static_cast<size_t>(bytes))).get();
  }
  TensorView view() {
    std::vector<int64_t> extents(often() ? 2 : below(4));
    int64_t elements = 1;
    for (int64_t& e : extents) {
      e = std::min<int64_t>(extent(), 64);
      elements *= std::max<int64_t>(e, 0);
    }
    const DType type = dtype();
    const std::byte* data = memory(elements * size_of(type));
    if (seldom() && type == DType::F32)
      return std::span(reinterpret_cast<const float*>(data), static_cast<size_t>(elements));
    TensorView result(seldom() ? nullptr : data, type, extents);
    if (seldom()) result.capacity = extents;                  // dense, said in other words
    if (below(32) == 0) result.capacity.push_back(extent());  // of another rank, or of 1
    return result;
  }
  NamedInputs inputs() {
    NamedInputs result;
    for (size_t i = below(4); i-- > 0;) result[often() ? "x" : name()] = view();
    return result;
  }

  CompileOptions options() {
    CompileOptions result;
    if (below(2)) return result;
    if (seldom()) result.device = below(2) ? Device::Null() : Device::Cuda(small());
    if (seldom()) result.cuda_arch = small();
    if (seldom()) result.threads = small();
    if (seldom()) result.cpu = below(2) ? "avx2" : name();
    if (seldom()) result.codegen = below(2) ? "llvm" : name();
    if (seldom()) result.precision = below(2) ? "bf16" : name();
    if (seldom()) result.precision_policy = precision();
    if (seldom()) result.dim_binding = binding();
    if (below(32) == 0) result.dim_bounds[name()] = {extent(), extent()};
    if (seldom()) result.fusion = fusion();
    if (seldom()) result.supported_ops = {op_name(), op_name()};
    if (seldom()) result.dispatch = dispatch();
    if (seldom()) result.memory = memory_options();
    if (seldom()) result.profile = one_up_to(Profile::Throughput);  // Debug logs
    if (seldom()) result.verbosity = Verbosity::Off;
    return result;
  }
  PrecisionOptions precision() {
    PrecisionOptions result{.policy = one_up_to(PrecisionPolicy::Custom)};
    if (result.policy != PrecisionPolicy::Custom && !seldom()) return result;
    for (Numbers& numbers : result.custom) numbers = one_up_to(Numbers::ByInt8);
    return result;
  }
  FusionOptions fusion() {
    FusionOptions result;
    if (below(2)) result.policy = one_up_to(FusionPolicy::Fusable);
    if (below(2)) result.limits = FusionLimits{small(), small()};
    if (seldom()) result.assert_clean = true;
    if (seldom()) result.skip = {below(2) ? "fuse_linear" : name()};
    return result;
  }
  DispatchOptions dispatch() {
    DispatchOptions result{.policy = one_up_to(DispatchPolicy::ForceNative)};
    if (below(2)) result.overrides[op_name()] = one_up_to(DispatchPolicy::ForceNative);
    return result;
  }
  PlanOptions memory_options() {
    return {.mode = one_up_to(PlanMode::Disabled), .alignment = often() ? 128 : extent()};
  }

 private:
  std::mt19937 random_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

// Plays with one player after the other. TENON_FUZZ_COUNT: how many, from TENON_FUZZ_SEED on.
template <typename Player>
void expect_done_or_refused(int calls) {
  const auto number = [](const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : otherwise;
  };
  const int first = number("TENON_FUZZ_SEED", 1), count = number("TENON_FUZZ_COUNT", 20);
  int done = 0, refused = 0;
  for (int seed = first; seed < first + count; ++seed) {
    Player player(static_cast<uint32_t>(seed));
    for (int call = 0; call < calls; ++call) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", call " << call);
      try {
        player.act();
        ++done;
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::Internal) << error.what();
        EXPECT_FALSE(std::string_view(error.what()).empty());
        ++refused;
      }
    }
  }
  EXPECT_GT(done, count * calls / 10);  // it is no test of refusals alone
  EXPECT_GT(refused, count * calls / 10);
}

}  // namespace tenon
