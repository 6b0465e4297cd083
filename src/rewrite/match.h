// The matcher: does a term look like a pattern, and what does the rule make of it? It sees terms
// only through an adaptor, so the same rules engine serves graphs and loop indices. It looks as
// deep as the pattern does and no deeper; walking a whole program to a fixed point is the business
// of the IR.
//
// An adaptor A has a default-constructible, copyable A::Term and
//   OpId op(Term), int arity(Term), Term arg(Term, int)         looking at a term
//   std::optional<Number> constant(Term)                        its value, where it is a constant
//   bool same(Term, Term)                                       identity
//   OpId resolve(OpId verb)                                     the IR's op for kAdd, ...; other
//   ids unchanged bool is_commutative(OpId) Term make(OpId, std::span<const Term> args, Term like)
//   building; `like` is the term being replaced, Term make_constant(Number, Term like) which gives
//   type and origin bool ask(int question, Term)                                only where rules
//   use ask()
#pragma once

#include <array>
#include <optional>
#include <span>

#include "rewrite/rule.h"

namespace tenon::rewrite {

template <typename Term>
struct Captures {
  std::array<Term, kWildcards> terms{};
  std::array<Term, kConstants> constant_terms{};
  std::array<Number, kConstants> constants{};
  uint32_t bound_terms = 0, bound_constants = 0;
};

template <typename A>
class Matcher {
 public:
  using Term = typename A::Term;

  Matcher(const A& adaptor, const Pattern& pattern) : adaptor_(adaptor), pattern_(pattern) {}

  std::optional<Captures<Term>> run(const Term& term) const {
    Goals goals;
    goals.push(pattern_.size - 1, term);
    Captures<Term> captures;
    if (!solve(goals, captures)) return std::nullopt;
    return captures;
  }

 private:
  // What is still to be matched. Backtracking is a copy of this and of the captures.
  struct Goals {
    struct Goal {
      int item = 0;
      Term term{};
    };
    std::array<Goal, kMaxItems> stack{};
    int count = 0;
    void push(int item, const Term& term) { stack[static_cast<size_t>(count++)] = {item, term}; }
    Goal pop() { return stack[static_cast<size_t>(--count)]; }
  };

  bool solve(Goals goals, Captures<Term>& captures) const {
    while (goals.count > 0) {
      const auto [index, term] = goals.pop();
      const Item& item = pattern_.items[index];
      if (item.kind != ItemKind::Op) {
        if (!match_leaf(item, term, captures)) return false;
        continue;
      }
      const OpId op = adaptor_.resolve(item.op);
      if (adaptor_.op(term) != op || adaptor_.arity(term) != item.arity) return false;
      if (item.arity == 2 && adaptor_.is_commutative(op)) {
        Goals swapped = goals;
        Captures<Term> undone = captures;
        push_args(goals, index, term, false);
        if (solve(goals, captures)) return true;
        captures = undone;
        push_args(swapped, index, term, true);
        goals = swapped;
      } else {
        push_args(goals, index, term, false);
      }
    }
    return true;
  }

  // The children of a postorder item end right before it, the last child first.
  void push_args(Goals& goals, int index, const Term& term, bool swap) const {
    int child = index - 1;
    const int arity = pattern_.items[index].arity;
    for (int i = arity - 1; i >= 0; --i) {
      goals.push(child, adaptor_.arg(term, swap ? arity - 1 - i : i));
      child -= pattern_.items[child].size;
    }
  }

  bool match_leaf(const Item& item, const Term& term, Captures<Term>& captures) const {
    const uint32_t bit = 1u << item.index;
    if (item.kind == ItemKind::Wildcard) {
      if (captures.bound_terms & bit) return adaptor_.same(captures.terms[item.index], term);
      captures.bound_terms |= bit;
      captures.terms[item.index] = term;
      return true;
    }
    const std::optional<Number> value = adaptor_.constant(term);
    if (!value) return false;
    if (item.kind == ItemKind::Literal) return *value == item.literal;
    if (captures.bound_constants & bit) return captures.constants[item.index] == *value;
    captures.bound_constants |= bit;
    captures.constants[item.index] = *value;
    captures.constant_terms[item.index] = term;
    return true;
  }

  const A& adaptor_;
  const Pattern& pattern_;
};

template <typename A>
std::optional<Captures<typename A::Term>> match(const A& adaptor, const Pattern& pattern,
                                                const typename A::Term& term) {
  return Matcher<A>(adaptor, pattern).run(term);
}

// The term a pattern describes, with the captures in place.
template <typename A>
typename A::Term build(A& adaptor, const Pattern& pattern,
                       const Captures<typename A::Term>& captures, const typename A::Term& like) {
  using Term = typename A::Term;
  std::array<Term, kMaxItems> stack{};
  size_t top = 0;
  for (int i = 0; i < pattern.size; ++i) {
    const Item& item = pattern.items[i];
    switch (item.kind) {
      case ItemKind::Wildcard:
        stack[top++] = captures.terms[item.index];
        break;
      case ItemKind::Constant:
        stack[top++] = captures.constant_terms[item.index];
        break;
      case ItemKind::Literal:
        stack[top++] = adaptor.make_constant(item.literal, like);
        break;
      case ItemKind::Op:
        top -= item.arity;
        stack[top] = adaptor.make(adaptor.resolve(item.op),
                                  std::span<const Term>(&stack[top], item.arity), like);
        ++top;
        break;
    }
  }
  return stack[0];
}

template <typename A>
bool holds(const A& adaptor, const Guard& guard, const Captures<typename A::Term>& captures) {
  for (int i = 0; i < guard.count; ++i) {
    const Test& test = guard.tests[i];
    if (test.kind == Test::Kind::Ask) {
      if constexpr (requires { adaptor.ask(0, captures.terms[0]); }) {
        if (!adaptor.ask(test.second, captures.terms[test.first])) return false;
      } else {
        return false;
      }
    } else if (!holds(test, captures.constants)) {
      return false;
    }
  }
  return true;
}

// What the rule makes of the term; nullopt where it does not apply. `domain` is where the term
// lives.
template <typename A>
std::optional<typename A::Term> apply(const Rule& rule, Domain domain, A& adaptor,
                                      const typename A::Term& term) {
  if ((rule.domain & domain) == 0) return std::nullopt;
  const auto captures = match(adaptor, rule.from, term);
  if (!captures || !holds(adaptor, rule.when, *captures)) return std::nullopt;
  return build(adaptor, rule.to, *captures, term);
}

template <typename Term>
struct Applied {
  Term term;
  const Rule* rule;
};

// The first rule of the table that applies, except those named in `skip`.
template <typename A>
std::optional<Applied<typename A::Term>> apply_first(std::span<const Rule> rules, Domain domain,
                                                     A& adaptor, const typename A::Term& term,
                                                     std::span<const std::string_view> skip = {}) {
  for (const Rule& rule : rules) {
    bool skipped = false;
    for (const std::string_view name : skip) skipped |= name == rule.name;
    if (skipped) continue;
    if (auto result = apply(rule, domain, adaptor, term)) return {{std::move(*result), &rule}};
  }
  return std::nullopt;
}

}  // namespace tenon::rewrite
