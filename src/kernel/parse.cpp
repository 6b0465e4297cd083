// Reads what print writes. Statements are lines; what a loop or a specialization contains is
// indented by two more spaces. The result is not verified: tests need kernels that are wrong.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/parse_cursor.h"
#include "kernel/text.h"

namespace tenon::kernel {
namespace {

constexpr int kMaxNesting = 100;

template <typename Enum, size_t N>
std::optional<Enum> named(const std::string_view (&table)[N], std::string_view text) {
  for (size_t i = 0; i < N; ++i) {
    if (table[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text), exprs_(in_) {}

  Kernel run() {
    try {
      header();
      while (in_.indentation() == 2 && next_is("buffer")) buffer();
      size("flops", kernel_.flops);
      size("bytes", kernel_.bytes);
      kernel_.body = block(1);
      if (in_.indentation() >= 0) in_.fail("unexpected indentation");
      return std::move(kernel_);
    } catch (const ParseError&) {
      throw;
    } catch (const Error& error) {  // of a symbol or an index expression
      in_.fail(error.what());
    }
  }

 private:
  void header();
  int64_t bound();
  void buffer();
  void buffer_flags(Buffer& b);
  void size(std::string_view word, Dim& dim);
  Block block(int depth);
  Stmt statement(int depth);
  Stmt loop(LoopKind kind, int depth);
  Stmt let_statement();
  Stmt specialize_statement(int depth);
  Stmt prefetch_statement();
  Stmt mma_statement();
  Stmt combine_statement();
  Stmt tile_statement(int depth);
  Symbol counted(int64_t& extent);  // a range whose extent is a number
  Stmt store_statement();
  Block body(int depth);
  std::vector<int64_t> integers();
  bool next_is(std::string_view word) {
    const size_t start = in_.mark();
    const bool found = in_.take(word) && in_.peek() != '[';
    in_.rewind(start);
    return found;
  }
  int small_integer() {
    const int64_t value = in_.integer();
    if (value < 0 || value > 1 << 30) in_.fail("integer out of range");
    return static_cast<int>(value);
  }

  Cursor in_;
  ExprParser exprs_;
  Kernel kernel_;
};

void Parser::header() {
  if (in_.indentation() != 0) in_.fail("expected 'kernel'");
  in_.expect("kernel");
  kernel_.name = in_.name();
  const auto level = named<Level>(kLevelText, in_.word());
  if (!level) in_.fail("expected a level");
  kernel_.level = *level;
  if (in_.take("dims")) {
    do {
      std::string name = in_.name();
      in_.expect(":");
      const int64_t lo = bound();
      in_.expect("..");
      const int64_t hi = bound();
      kernel_.dims.push_back(in_.bind(Symbol(std::move(name), {lo, hi})));
    } while (in_.take(","));
  }
  in_.expect_line_end();
}

int64_t Parser::bound() {
  if (in_.take("inf")) return kDimInf;
  if (in_.take("-inf")) return -kDimInf;
  return in_.integer();
}

void Parser::buffer() {
  in_.expect("buffer");
  Buffer b;
  b.name = in_.name();
  in_.expect(":");
  const auto dtype = parse_dtype(in_.word());
  if (!dtype) in_.fail("expected a dtype");
  b.dtype = *dtype;
  in_.expect("[");
  b.elements = in_.dim();
  in_.expect("]");
  const auto storage = named<Storage>(kStorageText, in_.word());
  if (!storage) in_.fail("expected a storage");
  b.storage = *storage;
  if (b.storage == Storage::Global) {
    const auto source = named<Source>(kSourceText, in_.word());
    if (!source) in_.fail("expected a source");
    b.source = *source;
    b.source_index = small_integer();
  }
  buffer_flags(b);
  const auto index = static_cast<int>(kernel_.buffers.size());
  if (!exprs_.buffers.emplace(b.name, index).second) {
    in_.fail(fmt::format("buffer '{}' is declared twice", b.name));
  }
  exprs_.dtypes.push_back(b.dtype);
  kernel_.add_buffer(std::move(b));
  in_.expect_line_end();
}

void Parser::buffer_flags(Buffer& b) {
  b.written = in_.take("written");
  b.constant = in_.take("constant");
  if (in_.take("depth")) b.depth = small_integer();
  b.async = in_.take("async");
}

void Parser::size(std::string_view word, Dim& dim) {
  if (in_.indentation() != 2 || !next_is(word)) return;
  in_.expect(word);
  dim = in_.dim();
  in_.expect_line_end();
}

Block Parser::block(int depth) {
  if (depth > kMaxNesting) in_.fail("statements nested too deep");
  const size_t outside = in_.symbols.size();
  Block result;
  int spaces = in_.indentation();
  for (; spaces >= depth * 2; spaces = in_.indentation()) {
    if (spaces > depth * 2) in_.fail("unexpected indentation");
    if (in_.peek() == '%') {
      exprs_.definition();
    } else {
      result.push_back(statement(depth));
      exprs_.definitions.clear();
    }
  }
  if (!exprs_.definitions.empty()) in_.fail("a definition needs a statement after it");
  in_.symbols.erase(in_.symbols.begin() + static_cast<std::ptrdiff_t>(outside), in_.symbols.end());
  return result;
}

Block Parser::body(int depth) {
  in_.expect_line_end();
  exprs_.definitions.clear();
  return block(depth + 1);
}

Stmt Parser::statement(int depth) {
  for (size_t i = 0; i < std::size(kLoopText); ++i) {
    if (next_is(kLoopText[i])) return loop(static_cast<LoopKind>(i), depth);
  }
  if (next_is("let")) return let_statement();
  if (next_is("specialize")) return specialize_statement(depth);
  if (next_is("mma")) return mma_statement();
  if (next_is("prefetch")) return prefetch_statement();
  if (next_is("combine")) return combine_statement();
  if (next_is("tile")) return tile_statement(depth);
  if (next_is("barrier")) {
    in_.expect("barrier");
    in_.expect_line_end();
    return {Barrier{}};
  }
  return store_statement();
}

Stmt Parser::loop(LoopKind kind, int depth) {
  in_.expect(text_of(kind));
  const size_t outside = in_.symbols.size();
  Dim extent;
  const Symbol symbol = exprs_.range(extent);
  Loop result{symbol, std::move(extent), kind, nullptr, {}, {}};
  if (kind == LoopKind::Ladder) {
    in_.expect("rows");
    std::string rows = in_.name();
    in_.expect("steps");
    result.steps = integers();
    const auto [lo, hi] = std::minmax_element(result.steps.begin(), result.steps.end());
    result.rows.push_back(in_.bind(Symbol(std::move(rows), {*lo, *hi})));
  }
  result.body = std::make_shared<const Block>(body(depth));
  in_.symbols.erase(in_.symbols.begin() + static_cast<std::ptrdiff_t>(outside), in_.symbols.end());
  return {std::move(result)};
}

std::vector<int64_t> Parser::integers() {
  std::vector<int64_t> result;
  do {
    result.push_back(in_.integer());
  } while (in_.peek() != '\n' && !in_.at_end());
  return result;
}

Stmt Parser::let_statement() {
  in_.expect("let");
  Dim extent;
  const Symbol symbol = exprs_.range(extent);
  in_.symbols.pop_back();  // its own value cannot use it
  const int buffer = in_.take("of") ? exprs_.buffer() : Let::kKnown;
  in_.expect("=");
  ExprRef value = exprs_.expr();
  std::vector<Guard> guards = exprs_.guards("when");
  in_.expect_line_end();
  in_.bind(symbol);
  return let(symbol, std::move(value), std::move(extent), buffer, std::move(guards));
}

Stmt Parser::specialize_statement(int depth) {
  in_.expect("specialize");
  const Symbol symbol = in_.symbol(in_.name());
  in_.expect("in");
  std::vector<int64_t> values = integers();
  return specialize(symbol, std::move(values), body(depth));
}

Stmt Parser::mma_statement() {
  in_.expect("mma");
  Dim rows;
  Dim cols;
  const Symbol row = exprs_.range(rows);
  in_.expect(",");
  const Symbol col = exprs_.range(cols);
  if (!cols.is_const()) in_.fail("the number of columns must be constant");
  in_.expect(":");
  const int acc = exprs_.buffer();
  in_.expect("+=");
  const auto kind = named<MmaKind>(kMmaText, in_.word());
  if (!kind) in_.fail("expected the kind of mma");
  in_.expect("(");
  ExprRef a = exprs_.expr();
  in_.expect(",");
  ExprRef b = exprs_.expr();
  in_.expect(")");
  in_.expect_line_end();
  in_.symbols.resize(in_.symbols.size() - 2, row);
  return {Mma{*kind, row, col, rows, cols.const_value(), acc, std::move(a), std::move(b)}};
}

Stmt Parser::prefetch_statement() {
  in_.expect("prefetch");
  const int buffer = exprs_.buffer();
  in_.expect("[");
  Dim offset = in_.dim();
  in_.expect("]");
  in_.expect_line_end();
  return {Prefetch{buffer, std::move(offset)}};
}

Stmt Parser::combine_statement() {
  in_.expect("combine");
  const std::string_view join = in_.word();
  Op op = Op::Const;
  for (const Reduction& reduction : kReductions) {
    if (info(reduction.join).text == join) op = reduction.join;
  }
  if (op == Op::Const) in_.fail("expected add, mul or max");
  const int buffer = exprs_.buffer();
  in_.expect("of");
  const int64_t group = in_.integer();
  in_.expect_line_end();
  return {Combine{op, buffer, group}};
}

Symbol Parser::counted(int64_t& extent) {
  Dim dim;
  Symbol symbol = exprs_.range(dim);
  if (!dim.is_const()) in_.fail("the extent must be a number");
  extent = dim.const_value();
  return symbol;
}

Stmt Parser::tile_statement(int depth) {
  in_.expect("tile");
  const auto kind = named<TileKind>(kTileText, in_.word());
  if (!kind) in_.fail("expected the kind of tile");
  int64_t threads = 0, elements = 0, rows = 0, cols = 0, k_extent = 0;
  const Symbol thread = counted(threads);
  in_.expect(",");
  const Symbol element = counted(elements);
  in_.expect("at");
  Dim row = in_.dim();
  in_.expect(",");
  Dim col = in_.dim();
  in_.expect_line_end();
  in_.symbols.resize(in_.symbols.size() - 2, thread);
  int spaces = in_.indentation();
  for (; in_.peek() == '%'; spaces = in_.indentation()) exprs_.definition();
  if (spaces != (depth + 1) * 2) in_.fail("expected what the tile multiplies");
  const Symbol i = counted(rows);
  in_.expect(",");
  const Symbol j = counted(cols);
  in_.expect(",");
  const Symbol k = counted(k_extent);
  in_.expect(":");
  const int acc = exprs_.buffer();
  in_.expect("+=");
  ExprRef a = exprs_.expr();
  in_.expect("*");
  ExprRef b = exprs_.expr();
  in_.expect_line_end();
  in_.symbols.resize(in_.symbols.size() - 3, thread);
  return {TileMma{*kind, acc, thread, element, threads, elements, std::move(row), std::move(col), i,
                  j, k, rows, cols, k_extent, std::move(a), std::move(b)}};
}

Stmt Parser::store_statement() {
  const bool streamed = in_.take("stream");
  const int buffer = exprs_.buffer();
  in_.expect("[");
  Dim offset = in_.dim();
  in_.expect("]");
  in_.expect("=");
  ExprRef value = exprs_.expr();
  std::vector<Guard> guards = exprs_.guards("when");
  in_.expect_line_end();
  return {Store{buffer, std::move(offset), std::move(value), std::move(guards), streamed}};
}

}  // namespace

Kernel parse(std::string_view text) { return Parser(text).run(); }

}  // namespace tenon::kernel
