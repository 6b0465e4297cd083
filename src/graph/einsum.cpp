// Operands are multiplied two at a time, each time as one batched matrix product; letters that
// nobody needs any more are summed on the way.
#include "graph/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"
#include "graph/iota.h"

namespace tenon::graph {
namespace {

// A tensor whose axes have names. Axes of the ellipsis are digits and what follows them in ASCII,
// counted from the last: they come before the letters.
struct Term {
  std::string letters;
  Value value;
};

using Extents = std::map<char, Dim>;

constexpr char kLastEllipsis = '9';

bool contains(std::string_view text, char letter) { return text.find(letter) != std::string::npos; }

// The letters of one term of the equation, with the ellipsis written out for `axes` axes of it.
std::string written_out(std::string_view term, int axes) {
  std::string letters;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (term.substr(i, 3) == "...") {
      if (axes < 0 || axes > 10) throw user_error("the ellipsis has {} axes", axes);
      for (int k = 0; k < axes; ++k) letters += static_cast<char>(kLastEllipsis - axes + 1 + k);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[i])) != 0) {
      letters += term[i];
    } else {
      throw user_error("the equation has a '{}'", term[i]);
    }
  }
  return letters;
}

int letter_count(std::string_view term) {
  return static_cast<int>(
      std::ranges::count_if(term, [](unsigned char c) { return std::isalpha(c) != 0; }));
}

std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  for (;;) {
    const size_t comma = text.find(',');
    terms.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

// Letters that occur once, in ASCII order, after the ellipsis.
std::string implicit_output(const std::vector<Term>& terms) {
  std::map<char, int> counts;
  for (const Term& term : terms) {
    for (const char letter : term.letters) ++counts[letter];
  }
  std::string output;
  for (const auto& [letter, count] : counts) {
    if (count == 1 || letter <= kLastEllipsis) output += letter;
  }
  return output;
}

std::vector<Dim> dims_of(const std::string& letters, const Extents& extents) {
  std::vector<Dim> dims;
  for (const char letter : letters) dims.push_back(extents.at(letter));
  return dims;
}

Dim count_of(const std::string& letters, const Extents& extents) {
  return Shape(dims_of(letters, extents)).elements();
}

// The diagonal of the last two axes, whose extents are no numbers: a look-up for each place.
Value equal_places(Graph& g, Value x) {
  const int rank = x.shape().rank();
  const Dim n = x.shape()[rank - 2];
  using enum Constraint::Kind;
  g.add_constraint({Equal, n, x.shape()[rank - 1], "[einsum] extents of a diagonal"});
  std::vector<Dim> places = x.shape().dims(), kept(places.begin(), places.end() - 1);
  places.back() = 1;
  const Value at = g.expand(g.reshape(iota(g, n), {n, 1}), places);
  return g.reshape(g.apply(Op::GatherElements, {x, at}, {{"axis", int64_t{rank - 1}}}), kept);
}

// The diagonal of two axes of one name: every (n + 1)th element of their product.
Term diagonal(Graph& g, Term term, size_t first, size_t second) {
  std::vector<int64_t> perm;
  std::vector<Dim> dims;
  std::string letters;
  for (size_t i = 0; i < term.letters.size(); ++i) {
    if (i == first || i == second) continue;
    perm.push_back(static_cast<int64_t>(i));
    dims.push_back(term.value.shape()[static_cast<int>(i)]);
    letters += term.letters[i];
  }
  perm.push_back(static_cast<int64_t>(first));
  perm.push_back(static_cast<int64_t>(second));
  const Dim n = term.value.shape()[static_cast<int>(first)];
  const Dim m = term.value.shape()[static_cast<int>(second)];
  const Value last = g.transpose(term.value, perm);
  letters += term.letters[first];
  if (!n.is_const() || n != m) return {letters, equal_places(g, last)};
  std::vector<Dim> flat = dims, taken = dims;
  flat.push_back(n * n);
  taken.push_back(n);
  std::vector<int64_t> steps(taken.size(), 1);
  steps.back() = n.const_value() + 1;
  const Value rows = g.reshape(last, flat);
  return {letters, g.slice(rows, std::vector<Dim>(flat.size(), 0), taken, steps)};
}

Term without_repeats(Graph& g, Term term) {
  for (size_t i = 0; i < term.letters.size(); ++i) {
    const size_t again = term.letters.find(term.letters[i], i + 1);
    if (again != std::string::npos)
      return without_repeats(g, diagonal(g, std::move(term), i, again));
  }
  return term;
}

Term ordered(Graph& g, const Term& term, const std::string& letters) {
  if (term.letters == letters) return term;
  std::vector<int64_t> perm;
  for (const char letter : letters) perm.push_back(static_cast<int64_t>(term.letters.find(letter)));
  return {letters, g.transpose(term.value, std::move(perm))};
}

// Sums over the letters that are not in `needed`.
Term summed(Graph& g, Term term, const std::string& needed) {
  std::string kept, gone;
  for (const char letter : term.letters) (contains(needed, letter) ? kept : gone) += letter;
  if (gone.empty()) return term;
  Term last = ordered(g, term, kept + gone);
  std::vector<int64_t> axes;
  for (size_t i = kept.size(); i < last.letters.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  std::vector<Dim> dims(last.value.shape().begin(),
                        last.value.shape().begin() + static_cast<int64_t>(kept.size()));
  return {kept, g.reshape(g.reduce(Op::ReduceSum, last.value, axes), std::move(dims))};
}

// Axes that were 1 where another operand's are longer: only the ellipsis does that.
Term spread(Graph& g, const Term& term, const Extents& extents) {
  const std::vector<Dim> dims = dims_of(term.letters, extents);
  return term.value.shape().dims() == dims ? term : Term{term.letters, g.expand(term.value, dims)};
}

// One batched product: [shared, left, summed] x [shared, summed, right].
Term multiplied(Graph& g, const Term& a, const Term& b, const std::string& needed,
                const Extents& extents) {
  std::string shared, left, inner, right;
  for (const char letter : a.letters) {
    if (!contains(b.letters, letter)) {
      left += letter;
    } else {
      (contains(needed, letter) ? shared : inner) += letter;
    }
  }
  for (const char letter : b.letters) {
    if (!contains(a.letters, letter)) right += letter;
  }
  const Dim batch = count_of(shared, extents), depth = count_of(inner, extents);
  Value x = spread(g, ordered(g, a, shared + left + inner), extents).value;
  Value y = spread(g, ordered(g, b, shared + inner + right), extents).value;
  x = g.reshape(x, {batch, count_of(left, extents), depth});
  y = g.reshape(y, {batch, depth, count_of(right, extents)});
  const std::string letters = shared + left + right;
  return {letters, g.reshape(g.matmul(x, y), dims_of(letters, extents))};
}

Extents extents_of(const std::vector<Term>& terms) {
  Extents extents;
  for (const Term& term : terms) {
    for (size_t i = 0; i < term.letters.size(); ++i) {
      const Dim& dim = term.value.shape()[static_cast<int>(i)];
      const auto [entry, added] = extents.emplace(term.letters[i], dim);
      if (entry->second.is_const(1) && !added) entry->second = dim;
    }
  }
  return extents;
}

std::vector<Term> terms_of(const std::vector<Value>& operands, std::string_view left) {
  const std::vector<std::string_view> texts = split_terms(left);
  if (texts.size() != operands.size()) {
    throw user_error("the equation has {} terms for {} operands", texts.size(), operands.size());
  }
  std::vector<Term> terms;
  for (size_t i = 0; i < texts.size(); ++i) {
    const int rank = operands[i].shape().rank();
    std::string letters = written_out(texts[i], rank - letter_count(texts[i]));
    if (static_cast<int>(letters.size()) != rank) {
      throw user_error("term '{}' does not fit {}", texts[i], operands[i].type().to_string());
    }
    terms.push_back({std::move(letters), operands[i]});
  }
  return terms;
}

std::string output_letters(const std::vector<Term>& terms, std::string_view text) {
  std::string all;
  size_t ellipsis = 0;
  for (const Term& term : terms) {
    all += term.letters;
    ellipsis =
        std::max<size_t>(ellipsis, static_cast<size_t>(std::ranges::count_if(
                                       term.letters, [](char c) { return c <= kLastEllipsis; })));
  }
  std::string output = written_out(text, static_cast<int>(ellipsis));
  for (size_t i = 0; i < output.size(); ++i) {
    if (!contains(all, output[i]) || output.find(output[i], i + 1) != std::string::npos) {
      throw user_error("the result of the equation has '{}'", output[i]);
    }
  }
  return output;
}

}  // namespace

Value einsum(Graph& g, std::string_view equation, const std::vector<Value>& operands) {
  const size_t arrow = equation.find("->");
  std::vector<Term> terms = terms_of(operands, equation.substr(0, arrow));
  const std::string output = arrow == std::string_view::npos
                                 ? implicit_output(terms)
                                 : output_letters(terms, equation.substr(arrow + 2));
  for (Term& term : terms) term = without_repeats(g, std::move(term));
  const Extents extents = extents_of(terms);
  Term result = terms[0];
  for (size_t i = 0; i < terms.size(); ++i) {
    std::string later = output;
    for (size_t k = i + 1; k < terms.size(); ++k) later += terms[k].letters;
    if (i > 0) {
      const Term next = summed(g, terms[i], later + result.letters);
      result = multiplied(g, result, next, later, extents);
    }
    result = summed(g, std::move(result), later);
  }
  return spread(g, ordered(g, result, output), extents).value;
}

}  // namespace tenon::graph
