// The table of inference rules, and the vocabulary the rules are written in: extents that must
// agree, extents that broadcast, and errors that show the shapes.
#include "graph/infer.h"

#include <algorithm>

namespace tenon::graph {

namespace {

using Rule = void (*)(Inference&);

constexpr Rule kRules[] = {
#define OP(Name, rule, ...) rules::rule,
#include "graph/ops.def"
};

// Constants before symbols before expressions; then the one with fewer symbols.
const Dim& simpler(const Dim& a, const Dim& b) {
  const auto rank = [](const Dim& d) { return d.is_const() ? 0 : d.as_symbol() ? 1 : 2; };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? a : b;
  const size_t count_a = a.symbols().size(), count_b = b.symbols().size();
  if (count_a != count_b) return count_a < count_b ? a : b;
  return b < a ? b : a;
}

bool names_subset(const Dim& a, const Dim& b) {
  const std::vector<Symbol> of_a = a.symbols(), of_b = b.symbols();
  return !of_a.empty() && std::includes(of_b.begin(), of_b.end(), of_a.begin(), of_a.end());
}

bool may_be_one(const Dim& dim) { return dim.bounds().contains(1); }

}  // namespace

void rules::leaf(Inference& op) {
  throw internal_error("[{}] is a leaf: its type is given, not inferred", info(op.op()).text);
}

void infer(Inference& inference) {
  const Op op = inference.op();
  for (int i = 0; i < inference.operand_count() && !has(op, kNarrow) && !has(op, kMovement); ++i) {
    const DType dtype = inference.operand(i).dtype;
    if (is_storage_only(dtype)) {
      throw inference.fail(
          fmt::format("{} is a dtype to store, not to compute with (cast it)", to_string(dtype)));
    }
  }
  kRules[static_cast<size_t>(op)](inference);
}

std::string Inference::label() const {
  const std::string text(info(op_).text);
  return op_ == Op::Custom ? fmt::format("{} {}", text, attributes_.function("function").name())
                           : text;
}

std::string Inference::describe(std::string_view what) const {
  std::string types;
  for (const Value& operand : operands_) {
    if (!types.empty()) types += " x ";
    types += operand.type().to_string();
  }
  return fmt::format("[{}] {}: {}", label(), what, types);
}

Error Inference::fail(std::string_view what) const { return user_error("{}", describe(what)); }

Error Inference::unsupported(std::string_view what) const {
  return unsupported_error("{}", describe(what));
}

void Inference::constrain(Constraint::Kind kind, const Dim& left, const Dim& right,
                          std::string_view what) {
  constraints_.push_back({kind, left, right, describe(what)});
}

Dim Inference::same(const Dim& a, const Dim& b, std::string_view what) {
  if (a == b) return a;
  const Proof proof = prove_equal(a, b);
  if (proof == Proof::No) throw fail(fmt::format("{} differ", what));
  if (proof == Proof::Unknown) constrain(Constraint::Kind::Equal, a, b, what);
  return simpler(a, b);
}

void Inference::at_most(const Dim& left, const Dim& right, std::string_view what) {
  const Proof proof = prove_le(left, right);
  if (proof == Proof::No) {
    throw fail(fmt::format("{} ({} is more than {})", what, left.to_string(), right.to_string()));
  }
  if (proof == Proof::Unknown) constrain(Constraint::Kind::AtMost, left, right, what);
}

// Whether `whole` is what `part` and others broadcast to before, one after the other.
static bool is_spread_of(const Dim& whole, const Dim& part) {
  if (whole.terms().size() != 1) return false;
  return std::ranges::any_of(whole.terms()[0].atoms, [&](const auto& atom) {
    return atom->kind == AtomKind::Max && std::ranges::any_of(atom->args, [&](const Dim& arg) {
             return arg == part || is_spread_of(arg, part);
           });
  });
}

Dim Inference::broadcast(const Dim& a, const Dim& b) {
  if (a == b || b.is_const(1)) return a;
  if (a.is_const(1)) return b;
  if (is_spread_of(a, b) || is_spread_of(b, a)) {
    constrain(Constraint::Kind::Broadcastable, a, b, "broadcast extents");
    return is_spread_of(a, b) ? a : b;
  }
  if (a.is_const() && b.is_const()) {
    throw fail(fmt::format("extents {} and {} do not broadcast", a.const_value(), b.const_value()));
  }
  const bool one_a = may_be_one(a), one_b = may_be_one(b);
  if (names_subset(a, b) || names_subset(b, a) || (!one_a && !one_b)) {
    return same(a, b, "broadcast extents");
  }
  constrain(Constraint::Kind::Broadcastable, a, b, "broadcast extents");
  // Under the constraint this is max(a, b); an extent that cannot be 1 is the result whatever the
  // other one is, and so is a number (0 with an extent of 1 is 0).
  if (a.is_const()) return a;
  if (b.is_const()) return b;
  if (!one_a && a.bounds().lo > 1) return a;
  if (!one_b && b.bounds().lo > 1) return b;
  if (a.bounds().lo >= 1 && b.bounds().lo >= 1) return max(a, b);
  return max(a, b) * min(1, min(a, b));  // 0 meets 1: 0
}

Shape Inference::broadcast(std::span<const Dim> a, std::span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<Dim> dims(a.begin(), a.end());
  const size_t skip = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) dims[skip + i] = broadcast(a[skip + i], b[i]);
  return Shape(std::move(dims));
}

void Inference::spread(std::span<const Dim> from, std::span<const Dim> to, std::string_view what) {
  if (from.size() > to.size()) throw fail(fmt::format("{} has too many axes", what));
  const size_t skip = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    const Dim &source = from[i], &target = to[skip + i];
    if (source == target || source.is_const(1)) continue;
    if (source.is_const() || !may_be_one(source) || names_subset(source, target)) {
      same(source, target, what);
      continue;
    }
    constrain(Constraint::Kind::Broadcastable, source, target, what);
    at_most(source, target, what);
  }
}

void Inference::check_extents(std::span<const Dim> extents) {
  for (const Dim& extent : extents) {
    if (extent.bounds().hi < 0)
      throw fail(fmt::format("extent {} is negative", extent.to_string()));
    if (extent.bounds().lo < 0) at_most(0, extent, "an extent is negative");
  }
}

}  // namespace tenon::graph
