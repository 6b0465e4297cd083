// A kernel as text, for people, tests and cache keys. Everything but the sharing of expressions
// between statements is in it, so parse() gives the kernel back:
//
//   kernel relu lowered dims m: 1..65536
//     buffer x: f32[m] global argument 0
//     buffer y: f32[m] global argument 1 written
//     flops m
//     bytes m*8
//     parallel i in m
//       y[i] = max(x[i], f32(0))
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel/text.h"

namespace tenon::kernel {
namespace {

std::string bound_text(int64_t bound) {
  if (bound >= kDimInf) return "inf";
  return bound <= -kDimInf ? "-inf" : fmt::to_string(bound);
}

// Buffers are addressed by position, so names may repeat; text needs each to be its own.
std::vector<std::string> unique_names(const std::vector<Buffer>& buffers) {
  std::vector<std::string> names;
  const auto taken = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::string name = buffers[i].name.empty() ? fmt::format("b{}", i) : buffers[i].name;
    const std::string stem = name;
    for (size_t n = i; taken(name_text(name)); ++n) name = fmt::format("{}.{}", stem, n);
    names.push_back(name_text(name));
  }
  return names;
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel), names_(unique_names(kernel.buffers)) {}

  std::string run() {
    header();
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) buffer(i);
    line(1, "flops " + kernel_.flops.to_string());
    line(1, "bytes " + kernel_.bytes.to_string());
    block(1, kernel_.body);
    return std::move(out_);
  }

 private:
  void header();
  void buffer(size_t index);
  void block(int indent, const Block& block) {
    for (const Stmt& stmt : block) {
      std::visit([&](const auto& node) { statement(indent, node); }, stmt.node);
    }
  }
  void statement(int indent, const Loop& loop);
  void statement(int indent, const Store& store);
  void statement(int indent, const Let& let);
  void statement(int indent, const Specialize& specialize);
  void statement(int indent, const Mma& mma);
  void statement(int indent, const Prefetch& prefetch);
  void statement(int indent, const Barrier&) { line(indent, "barrier"); }
  void statement(int indent, const Combine& combine);
  void statement(int indent, const TileMma& tile);
  std::vector<std::string> exprs(int indent, const std::vector<ExprRef>& roots,
                                 const std::vector<BoundRange>& bound = {});

  void line(int indent, std::string_view text) {
    out_.append(static_cast<size_t>(indent) * 2, ' ').append(text).append("\n");
  }
  std::string buffer_name(int index) const {
    const auto at = static_cast<size_t>(index);
    return at < names_.size() ? names_[at] : fmt::format("\"buffer {}\"", index);
  }

  const Kernel& kernel_;
  std::vector<std::string> names_;
  std::string out_;
};

void Printer::header() {
  std::string text = fmt::format("kernel {} {}", name_text(kernel_.name), text_of(kernel_.level));
  const char* separator = " dims";
  for (const Symbol& symbol : kernel_.dims) {
    const Bounds bounds = symbol.bounds();
    text += fmt::format("{} {}: {}..{}", separator, Dim(symbol).to_string(), bound_text(bounds.lo),
                        bound_text(bounds.hi));
    separator = ",";
  }
  line(0, text);
}

void Printer::buffer(size_t index) {
  const Buffer& b = kernel_.buffers[index];
  std::string text = fmt::format("buffer {}: {}[{}] {}", names_[index], to_string(b.dtype),
                                 b.elements.to_string(), text_of(b.storage));
  if (b.storage == Storage::Global) {
    text += fmt::format(" {} {}", text_of(b.source), b.source_index);
  }
  if (b.written) text += " written";
  if (b.constant) text += " constant";
  if (b.depth != 1) text += fmt::format(" depth {}", b.depth);
  if (b.async) text += " async";
  line(1, text);
}

std::vector<std::string> Printer::exprs(int indent, const std::vector<ExprRef>& roots,
                                        const std::vector<BoundRange>& bound) {
  ExprText text = print_exprs(roots, names_, bound);
  for (const std::string& definition : text.definitions) line(indent, definition);
  return std::move(text.roots);
}

void Printer::statement(int indent, const Loop& loop) {
  std::string text = fmt::format("{} {} in {}", text_of(loop.kind), Dim(loop.symbol).to_string(),
                                 loop.extent.to_string());
  for (const Symbol& rows : loop.rows) text += fmt::format(" rows {}", Dim(rows).to_string());
  if (!loop.steps.empty()) text += fmt::format(" steps {}", fmt::join(loop.steps, " "));
  line(indent, text);
  block(indent + 1, *loop.body);
}

void Printer::statement(int indent, const Store& store) {
  const auto value = exprs(indent, {store.value});
  line(indent,
       fmt::format("{}{}[{}] = {}{}", store.streamed ? "stream " : "", buffer_name(store.buffer),
                   store.offset.to_string(), value[0], print_guards(" when", store.guards)));
}

void Printer::statement(int indent, const Let& let) {
  const auto value = exprs(indent, {let.value});
  const std::string indexed = let.is_checked() ? " of " + buffer_name(let.buffer) : "";
  line(indent,
       fmt::format("let {} in {}{} = {}{}", Dim(let.symbol).to_string(), let.extent.to_string(),
                   indexed, value[0], print_guards(" when", let.guards)));
}

void Printer::statement(int indent, const Specialize& specialize) {
  line(indent, fmt::format("specialize {} in {}", Dim(specialize.symbol).to_string(),
                           fmt::join(specialize.values, " ")));
  block(indent + 1, *specialize.body);
}

void Printer::statement(int indent, const Mma& mma) {
  const auto text = exprs(indent, {mma.a, mma.b}, {{mma.col, mma.cols}, {mma.row, mma.rows}});
  line(indent, fmt::format("mma {} in {}, {} in {}: {} += {}({}, {})", Dim(mma.row).to_string(),
                           mma.rows.to_string(), Dim(mma.col).to_string(), mma.cols,
                           buffer_name(mma.acc), text_of(mma.kind), text[0], text[1]));
}

void Printer::statement(int indent, const Prefetch& prefetch) {
  line(indent,
       fmt::format("prefetch {}[{}]", buffer_name(prefetch.buffer), prefetch.offset.to_string()));
}

void Printer::statement(int indent, const Combine& combine) {
  line(indent, fmt::format("combine {} {} of {}", info(combine.join).text,
                           buffer_name(combine.buffer), combine.group));
}

// tile fma t in 256, e in 64: floordiv(t, 16)*8 + floordiv(e, 8), ...; acc += outer(...)
void Printer::statement(int indent, const TileMma& tile) {
  line(indent,
       fmt::format("tile {} {} in {}, {} in {} at {}, {}", text_of(tile.kind),
                   Dim(tile.thread).to_string(), tile.threads, Dim(tile.element).to_string(),
                   tile.elements, tile.row.to_string(), tile.col.to_string()));
  const auto text = exprs(indent + 1, {tile.a, tile.b},
                          {{tile.i, tile.rows}, {tile.j, tile.cols}, {tile.k, tile.depth}});
  line(indent + 1,
       fmt::format("{} in {}, {} in {}, {} in {}: {} += {} * {}", Dim(tile.i).to_string(),
                   tile.rows, Dim(tile.j).to_string(), tile.cols, Dim(tile.k).to_string(),
                   tile.depth, buffer_name(tile.acc), text[0], text[1]));
}

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace tenon::kernel
