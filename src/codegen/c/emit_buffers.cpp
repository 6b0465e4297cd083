// Where values live: names of vector types, pointers to memory, variables for registers.
#include <algorithm>

#include "base/error.h"
#include "codegen/c/emitter.h"

namespace tenon::codegen::c {

using kernel::kLaneCount;

std::string vector_type(DType dtype) {
  return dtype == DType::Bool ? "i32v" : scalar_type(dtype) + "v";
}

namespace {

constexpr int64_t kStackAlignment = 64;
constexpr int64_t kRegisterBytes[] = {32, 64};  // by Isa

// The widest of what differs by lane, in bytes.
class Widest {
 public:
  void visit(const kernel::Block& block, const std::optional<Symbol>& lane) {
    for (const kernel::Stmt& stmt : block) {
      if (const auto* loop = stmt.as<kernel::Loop>()) {
        const bool vector = loop->kind == kernel::LoopKind::Vector;
        visit(*loop->body, vector ? std::optional(loop->symbol) : lane);
      } else if (const auto* specialize = stmt.as<kernel::Specialize>()) {
        visit(*specialize->body, lane);
      } else if (const auto* store = stmt.as<kernel::Store>()) {
        if (lane) visit(store->value, *lane);
      } else if (const auto* let = stmt.as<kernel::Let>()) {
        if (lane) visit(let->value, *lane);
      }
    }
  }
  int64_t bytes() const { return bytes_; }

 private:
  void visit(const kernel::ExprRef& root, const Symbol& lane) {
    kernel::for_each(root, [&](const kernel::Expr& expr) {
      bytes_ = std::max(bytes_, size_of(expr.dtype));
      if (expr.op == kernel::Op::Index && expr.index.uses(lane)) bytes_ = 8;
    });
  }

  int64_t bytes_ = 4;  // of a mask
};

}  // namespace

int64_t lanes_of_vectors(const kernel::Kernel& kernel, Isa isa) {
  Widest widest;
  widest.visit(kernel.body, std::nullopt);
  return std::min(kLaneCount, kRegisterBytes[static_cast<int>(isa)] / widest.bytes());
}

void Emitter::declare_buffers() {
  int argument = 0;
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const kernel::Buffer& buffer = kernel_.buffers[i];
    Storage storage;
    storage.base = names_.fresh(buffer.name);
    const std::string type = scalar_type(buffer.dtype);
    switch (buffer.storage) {
      case kernel::Storage::Global:
        line("{} *const {} = buffers[{}];", type, storage.base, argument++);
        break;
      case kernel::Storage::Scratch:
        line("{0} *const {1} = ({0} *)((char *)scratch + {2});", type, storage.base,
             dim(kernel_.scratch_offset(static_cast<int>(i))));
        break;
      case kernel::Storage::Stack:
        line("{} {}[{}] __attribute__((aligned({})));", type, storage.base,
             buffer.elements.const_value(), kStackAlignment);
        break;
      case kernel::Storage::Register:
        declare_registers(buffer, storage);
        break;
      case kernel::Storage::Shared:
        throw internal_error("kernel {}: shared memory on a CPU", kernel_.name);
    }
    storage_.push_back(std::move(storage));
  }
}

void Emitter::declare_registers(const kernel::Buffer& buffer, Storage& storage) {
  const int64_t elements = buffer.elements.const_value();
  storage.vectors = elements % kLaneCount == 0;
  const std::string type = storage.vectors ? vector_type(buffer.dtype) : scalar_type(buffer.dtype);
  for (int64_t i = 0; i < (storage.vectors ? elements / kLaneCount : elements); ++i) {
    Value value{buffer.dtype, storage.vectors, {}};
    for (int64_t part = 0; part < (storage.vectors ? part_count() : 1); ++part) {
      value.parts.push_back(fmt::format("{}{}_{}", storage.base, i, part));
      line("{} {};", type, value.parts.back());
    }
    storage.registers.push_back(std::move(value));
  }
}

}  // namespace tenon::codegen::c
