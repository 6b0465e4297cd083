// Minimum and maximum: flattened, sorted, without repeats and without arguments that another one
// always beats.
#include <algorithm>

#include "types/dim_node.h"

namespace tenon {
namespace {

// Comparing every pair is only worth it while pairs are few; beyond that only equal and constant
// arguments go.
constexpr size_t kMaxCompared = 8;

void flatten_into(std::vector<Dim>& args, AtomKind kind, const Dim& d) {
  const auto terms = d.terms();
  const bool nested = terms.size() == 1 && terms[0].coefficient == 1 &&
                      terms[0].atoms.size() == 1 && terms[0].atoms[0]->kind == kind;
  if (!nested) {
    args.push_back(d);
    return;
  }
  const auto& inner = terms[0].atoms[0]->args;
  args.insert(args.end(), inner.begin(), inner.end());
}

bool beats(AtomKind kind, const Dim& a, const Dim& b) {
  try {
    return proves_nonnegative(kind == AtomKind::Min ? b - a : a - b);
  } catch (const std::exception&) {
    return false;  // the difference overflows
  }
}

// Of all constants only the best can matter.
void keep_best_constant(AtomKind kind, std::vector<Dim>& args) {
  std::optional<int64_t> best;
  for (const Dim& arg : args) {
    if (!arg.is_const()) continue;
    const int64_t v = arg.const_value();
    best = !best ? v : kind == AtomKind::Min ? std::min(*best, v) : std::max(*best, v);
  }
  std::erase_if(args, [](const Dim& arg) { return arg.is_const(); });
  if (best) args.emplace_back(*best);
}

Dim combine(AtomKind kind, const Dim& a, const Dim& b) {
  if (a == b) return a;
  std::vector<Dim> args;
  flatten_into(args, kind, a);
  flatten_into(args, kind, b);
  keep_best_constant(kind, args);
  std::sort(args.begin(), args.end());
  args.erase(std::unique(args.begin(), args.end()), args.end());
  if (args.size() <= kMaxCompared) {
    for (size_t i = 0; i < args.size();) {
      bool beaten = false;
      for (size_t j = 0; j < args.size() && !beaten; ++j) {
        beaten = i != j && beats(kind, args[j], args[i]);
      }
      if (beaten) {
        args.erase(args.begin() + static_cast<ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  if (args.size() == 1) return args[0];
  return DimBuild::atom(DimBuild::make_atom(kind, std::move(args)));
}

}  // namespace

Dim min(const Dim& a, const Dim& b) { return combine(AtomKind::Min, a, b); }
Dim max(const Dim& a, const Dim& b) { return combine(AtomKind::Max, a, b); }

}  // namespace tenon
