// See case.h.
#include "tools/replay/case.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/literal.h"
#include "graph/marked_text.h"
#include "types/active_extent.h"

namespace tenon::replay {

using graph::Tensor;

namespace {

// splitmix64: numbers of the standard library's distributions differ between libraries.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

constexpr uint64_t kSpecialShare = 6;  // one of so many elements

uint64_t seed_of(uint64_t seed, std::string_view name) {
  for (const char c : name) seed = seed * 31 + static_cast<unsigned char>(c);
  return seed;
}

// An element that code forgets. Floats stay where a product of two does not overflow f32.
void store_special(DType dtype, void* element, uint64_t choice) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kFloats[] = {std::numeric_limits<double>::quiet_NaN(),
                                kInf,
                                -kInf,
                                0.0,
                                -0.0,
                                1e-40,
                                -1e-40,
                                1e-7,
                                1e10,
                                -1e10,
                                0.5,
                                -1.5};
  if (is_float(dtype)) return store_from_f64(dtype, element, kFloats[choice % std::size(kFloats)]);
  const int bits = info(dtype).bits;
  const uint64_t sign = uint64_t{1} << (bits - 1), all = sign - 1 + sign;
  const uint64_t kWords[] = {sign, sign - 1, sign + 1, all, all - 1, 0, 1, sign >> 1};
  const uint64_t word = kWords[choice % std::size(kWords)];
  const bool negative = info(dtype).kind == DTypeKind::Signed && (word & sign) != 0;
  store_from_i64(dtype, element, static_cast<int64_t>(negative ? word | ~all : word));
}

Tensor random_tensor(const graph::Value& leaf, const Case& given) {
  const SymbolValues values = [&](const Symbol& symbol) -> std::optional<int64_t> {
    const auto found = given.extents.find(symbol.name());
    return found == given.extents.end() ? std::nullopt : std::optional(found->second);
  };
  Tensor tensor{leaf.dtype(), {}, {}};
  for (const Dim& extent : leaf.shape()) {
    const std::optional<int64_t> value = extent.evaluate(values);
    if (!value) throw user_error("the case gives no extent for {}", extent.to_string());
    tensor.shape.push_back(*value);
  }
  const auto size = static_cast<size_t>(size_of(tensor.dtype));
  tensor.bytes.resize(static_cast<size_t>(tensor.elements()) * size);
  Numbers numbers(seed_of(given.seed, leaf.node->name()));
  for (size_t at = 0; at < tensor.bytes.size(); at += size) {
    const uint64_t kind = given.special ? numbers.next() : 0;
    if (kind % kSpecialShare == 1 && tensor.dtype != DType::Bool) {
      store_special(tensor.dtype, &tensor.bytes[at], kind / kSpecialShare);
    } else if (is_float(tensor.dtype)) {
      store_from_f64(tensor.dtype, &tensor.bytes[at], numbers.unit() * 4 - 2);
    } else {
      const auto small = static_cast<int64_t>(numbers.next() % 9);
      const bool is_signed = info(tensor.dtype).kind == DTypeKind::Signed;
      const int64_t value = tensor.dtype == DType::Bool ? small % 2 : is_signed ? small - 4 : small;
      store_from_i64(tensor.dtype, &tensor.bytes[at], value);
    }
  }
  return tensor;
}

}  // namespace

std::string to_text(const Case& given) {
  std::string text = fmt::format("case seed={}{}", given.seed, given.special ? " special=1" : "");
  for (const auto& [name, extent] : given.extents) {
    text += fmt::format(" {}={}", graph::name_or_quoted(name), extent);
  }
  return text + "\n" + print(given.graph);
}

Case parse_case(std::string_view text) {
  const size_t end = text.find('\n');
  constexpr std::string_view kFirst = "case ";
  if (!text.starts_with(kFirst) || end == std::string_view::npos) {
    throw user_error("the text does not begin with a line \"case seed=... NAME=EXTENT ...\"");
  }
  const graph::MarkedGraph read = graph::parse_marked(text.substr(end + 1));
  graph::ActiveGraph active = graph::with_active_extent(read.graph, read.marked);
  Case result{std::move(active.graph), {}, 0};
  if (active.report.upper > 0 && active.report.fallback.empty())
    result.extents[std::string(kActiveExtent)] = active.report.upper;
  std::string_view line = text.substr(kFirst.size(), end - kFirst.size());
  while (!line.empty()) {
    const size_t name_end = line[0] == '"' ? line.find('"', 1) : 0;
    const std::string_view word = line.substr(0, line.find(' ', name_end));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (word.empty()) continue;
    const size_t equals = std::min(word.rfind('='), word.size() - 1);
    uint64_t number = 0;
    const char *first = word.data() + equals + 1, *last = word.data() + word.size();
    if (std::from_chars(first, last, number).ptr != last || first == last) {
      throw user_error("'{}' is no NAME=NUMBER", word);
    }
    std::string name(word.substr(0, equals));
    if (name.size() > 1 && name[0] == '"') name = name.substr(1, name.size() - 2);
    if (name == "seed") {
      result.seed = number;
    } else if (name == "special") {
      result.special = number != 0;
    } else {
      result.extents[name] = static_cast<int64_t>(number);
    }
  }
  return result;
}

Tensors inputs_of(const Case& given) {
  Tensors tensors;
  for (const auto* leaves : {&given.graph.inputs(), &given.graph.params()}) {
    for (const graph::Value& leaf : *leaves) {
      if (given.graph.param_data(leaf.node->name())) continue;
      tensors[leaf.node->name()] = random_tensor(leaf, given);
    }
  }
  return tensors;
}

Tensors perturbed(const Tensors& inputs, uint64_t seed) {
  Tensors result = inputs;
  for (auto& [name, tensor] : result) {
    if (!is_float(tensor.dtype) || is_storage_only(tensor.dtype)) continue;
    const double step = tensor.dtype == DType::BF16  ? 0x1p-7
                        : tensor.dtype == DType::F16 ? 0x1p-10
                                                     : 0x1p-22;
    Numbers numbers(seed_of(seed + 1, name));
    const auto size = static_cast<size_t>(size_of(tensor.dtype));
    for (size_t at = 0; at < tensor.bytes.size(); at += size) {
      const double value = load_as_f64(tensor.dtype, &tensor.bytes[at]);
      store_from_f64(tensor.dtype, &tensor.bytes[at],
                     value * (1 + step * (2 * numbers.unit() - 1)));
    }
  }
  return result;
}

}  // namespace tenon::replay
