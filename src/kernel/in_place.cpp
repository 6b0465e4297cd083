#include "kernel/in_place.h"

namespace tenon::kernel {
namespace {

// What is known of a global buffer that is only read.
struct Reads {
  int result = -1;    // the only buffer whose stores load it
  bool exact = true;  // at the same element, and nowhere else
};

class Finder {
 public:
  explicit Finder(const Kernel& kernel) : kernel_(kernel), reads_(kernel.buffers.size()) {}

  std::vector<std::pair<int, int>> run() {
    for_each(kernel_.body, [&](const Stmt& s) { visit(s); });
    std::vector<std::pair<int, int>> pairs;
    for (size_t i = 0; i < reads_.size(); ++i) {
      const Reads& reads = reads_[i];
      if (!reads.exact || reads.result < 0 || !fits(kernel_.buffers[i], reads.result)) continue;
      pairs.emplace_back(kernel_.argument_of(reads.result),
                         kernel_.argument_of(static_cast<int>(i)));
    }
    return pairs;
  }

 private:
  bool fits(const Buffer& operand, int result) const {
    const Buffer& written = kernel_.buffers[static_cast<size_t>(result)];
    return operand.storage == Storage::Global && !operand.written &&
           written.storage == Storage::Global && size_of(operand.dtype) == size_of(written.dtype) &&
           operand.elements == written.elements;
  }

  void visit(const Stmt& s) {
    if (const auto* store = s.as<Store>()) {
      for_each(store->value, [&](const Expr& e) {
        if (e.buffer < 0) return;
        Reads& reads = reads_[static_cast<size_t>(e.buffer)];
        const bool other = reads.result >= 0 && reads.result != store->buffer;
        reads.exact = reads.exact && !other && e.op == Op::Load && e.index == store->offset;
        reads.result = store->buffer;
      });
    } else if (const auto* let = s.as<Let>()) {
      spoil(let->value);
    } else if (const auto* mma = s.as<Mma>()) {
      spoil(mma->a);
      spoil(mma->b);
    } else if (const auto* tile = s.as<TileMma>()) {
      spoil(tile->a);
      spoil(tile->b);
    }
  }

  void spoil(const ExprRef& value) {
    for_each(value, [&](const Expr& e) {
      if (e.buffer >= 0) spoil(kernel_.buffers[static_cast<size_t>(e.buffer)]);
    });
  }

  // An argument may be read through several buffers (as elements, as pairs of them).
  void spoil(const Buffer& read) {
    for (size_t i = 0; i < reads_.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      const bool same = buffer.storage == Storage::Global && buffer.source == read.source &&
                        buffer.source_index == read.source_index;
      if (same && read.storage == Storage::Global) reads_[i].exact = false;
    }
  }

  const Kernel& kernel_;
  std::vector<Reads> reads_;  // per buffer
};

}  // namespace

std::vector<std::pair<int, int>> in_place_pairs(const Kernel& scheduled) {
  return Finder(scheduled).run();
}

}  // namespace tenon::kernel
