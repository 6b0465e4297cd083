// Expressions of the text form. Each op of ops.def is a call under its name there; constants are
// calls of their dtype, loads are a buffer's name with an index.
#include <fmt/format.h>

#include "kernel/parse_cursor.h"

namespace tenon::kernel {
namespace {

constexpr int kMaxNesting = 200;

std::optional<Op> op_named(std::string_view text) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    if (kOps[i].text == text) return static_cast<Op>(i);
  }
  return std::nullopt;
}

}  // namespace

int ExprParser::buffer() {
  const std::string name = in_.name();
  const auto found = buffers.find(name);
  if (found == buffers.end()) in_.fail(fmt::format("no buffer '{}'", name));
  return found->second;
}

DType ExprParser::dtype() {
  const auto dtype = parse_dtype(in_.word());
  if (!dtype) in_.fail("expected a dtype");
  return *dtype;
}

std::vector<Guard> ExprParser::guards(std::string_view word) {
  std::vector<Guard> guards;
  if (!in_.take(word)) return guards;
  do {
    in_.expect("0");
    in_.expect("<=");
    Dim index = in_.dim();
    in_.expect("<");
    guards.push_back({std::move(index), in_.dim()});
  } while (in_.take("and"));
  return guards;
}

Symbol ExprParser::range(Dim& extent) {
  std::string name = in_.name();
  in_.expect("in");
  extent = in_.dim();
  return in_.bind(Symbol::range(std::move(name), extent));
}

void ExprParser::definition() {
  in_.expect("%");
  const int64_t number = in_.integer();
  if (definitions.contains(number)) in_.fail(fmt::format("%{} is defined twice", number));
  const size_t outside = in_.symbols.size();
  if (in_.take("(")) {
    Dim extent;
    do {
      range(extent);
    } while (in_.take(","));
    in_.expect(")");
  }
  in_.expect("=");
  definitions[number] = expr();
  in_.symbols.erase(in_.symbols.begin() + static_cast<std::ptrdiff_t>(outside), in_.symbols.end());
  in_.expect_line_end();
}

ExprRef ExprParser::expr() {
  if (++nesting_ > kMaxNesting) in_.fail("expression nested too deep");
  ExprRef result;
  if (in_.take("%")) {
    const int64_t number = in_.integer();
    const auto found = definitions.find(number);
    if (found == definitions.end()) in_.fail(fmt::format("%{} is not defined here", number));
    result = found->second;
  } else {
    const size_t start = in_.mark();
    const std::string_view function = in_.word();
    if (!function.empty() && in_.take("(")) {
      result = call(function);
    } else {
      in_.rewind(start);
      result = load();
    }
  }
  --nesting_;
  return result;
}

ExprRef ExprParser::load() {
  const int index = buffer();
  in_.expect("[");
  Dim offset = in_.dim();
  in_.expect("]");
  return kernel::load(index, dtypes[static_cast<size_t>(index)], std::move(offset), guards("if"));
}

// After the opening parenthesis.
ExprRef ExprParser::call(std::string_view function) {
  ExprRef result;
  if (const auto dtype = parse_dtype(function)) {
    result = constant(*dtype, in_.number(*dtype));
  } else if (const auto op = op_named(function)) {
    result = call(*op);
  } else {
    in_.fail(fmt::format("no op '{}'", function));
  }
  in_.expect(")");
  return result;
}

ExprRef ExprParser::call(Op op) {
  if (op == Op::Index) {
    const DType result = dtype();
    in_.expect(",");
    return index_value(result, in_.dim());
  }
  if (op == Op::InRange) {
    Dim index = in_.dim();
    in_.expect(",");
    return in_range(std::move(index), in_.dim());
  }
  if (op == Op::Cast || op == Op::BitCast) {
    const DType result = dtype();
    ExprRef x = operands(op, false)[0];
    return op == Op::Cast ? cast(std::move(x), result) : bit_cast(std::move(x), result);
  }
  if (has(op, kReduce)) return reduction(op);
  if (has(op, kPointwise)) return pointwise(op, operands(op, true));
  if (!has(op, kLanes)) in_.fail(fmt::format("'{}' is not written as a call", info(op).text));
  const int index = buffer();
  return lanes(op, dtypes[static_cast<size_t>(index)], index);
}

ExprRef ExprParser::reduction(Op op) {
  Dim extent;
  const Symbol symbol = range(extent);
  std::vector<ExprRef> args = operands(op, false);
  in_.symbols.pop_back();
  return reduce(op, symbol, std::move(extent), std::move(args));
}

std::vector<ExprRef> ExprParser::operands(Op op, bool first) {
  std::vector<ExprRef> args;
  for (int i = 0; i < info(op).operands; ++i) {
    if (!first || i > 0) in_.expect(",");
    args.push_back(expr());
  }
  return args;
}

}  // namespace tenon::kernel
