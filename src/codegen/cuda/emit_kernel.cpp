// The function around the statements: the words of its argument block, where buffers lie, and the
// work items that a block computes. The words are what the runtime's launch writes:
//   0 work items   1 scratch memory   2 bytes of it per block   3 fault words   4 number of the
//   step then a pointer per global buffer, then the values of the dims
#include <algorithm>

#include "base/error.h"
#include "codegen/cuda/emitter.h"
#include "codegen/object_code.h"
#include "kernel/in_place.h"

namespace tenon::codegen::cuda {

namespace {

constexpr int kFirstBufferWord = 5;

}  // namespace

Emitter::Emitter(const kernel::Kernel& kernel)
    : KernelWriter(kernel), layout_(kernel), threads_(kernel.block_threads()) {
  TENON_CHECK(kernel.level == kernel::Level::Gpu, "kernel {} is not scheduled for a GPU",
              kernel.name);
}

std::string Emitter::emit() {
  open(
      fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}("
                  "const u64 *__restrict__ arguments)",
                  threads_, kEntryName));
  line("const i32 tid = (i32)threadIdx.x;");
  if (layout_.bytes > 0) line("extern __shared__ __align__(128) u8 shared_memory[];");
  int word = kFirstBufferWord;
  for (const kernel::Buffer& b : kernel_.buffers) word += b.storage == kernel::Storage::Global;
  for (const Symbol& symbol : kernel_.dims) {
    const bool wide = !fits_i32(symbol.bounds());
    const std::string& name = names_.of(symbol.name());
    line("const {0} {1} = ({0})arguments[{2}];", wide ? "i64" : "i32", name, word++);
    bind(symbol, name, wide);
  }
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) declare_buffer(i);
  emit_block(kernel_.body);
  close();
  return std::move(out_);
}

void Emitter::declare_buffer(size_t at) {
  const kernel::Buffer& b = kernel_.buffers[at];
  const int number = static_cast<int>(at);
  Storage result;
  result.base = names_.fresh(b.name);
  result.aligned = "true";
  const std::string type = scalar_type(b.dtype);
  if (b.storage == kernel::Storage::Global) {
    const int position = kernel_.argument_of(number);
    const auto pairs = kernel::in_place_pairs(kernel_);
    const bool overwritten = std::any_of(pairs.begin(), pairs.end(),
                                         [&](const auto& pair) { return pair.second == position; });
    result.is_constant = !b.written && !overwritten;
    line("{0}{1} *const {2} = ({0}{1} *)arguments[{3}];", b.written ? "" : "const ", type,
         result.base, kFirstBufferWord + position);
  } else if (b.storage == kernel::Storage::Scratch) {
    line(
        "{0} *const {1} = ({0} *)((u8 *)arguments[1] + (i64)blockIdx.x * (i64)arguments[2] + {2});",
        type, result.base, dim(kernel_.scratch_offset(number)));
  } else if (b.storage == kernel::Storage::Shared) {
    line("{0} *const {1} = ({0} *)(shared_memory + {2});", type, result.base, layout_.offsets[at]);
  }
  if (b.storage == kernel::Storage::Global || b.storage == kernel::Storage::Scratch) {
    result.aligned = fmt::format("{}aligned", result.base);
    line("const bool {} = is_aligned<16>({});", result.aligned, result.base);
  }
  storage_.push_back(std::move(result));
}

// Registers and stack belong to a thread, and live as long as a work item.
void Emitter::declare_thread_buffers() {
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const kernel::Buffer& b = kernel_.buffers[i];
    const bool on_stack = b.storage == kernel::Storage::Stack;
    if (!on_stack && b.storage != kernel::Storage::Register) continue;
    const int64_t elements = std::max<int64_t>(b.elements.const_value(), 1);
    line("{}{} {}[{}];", on_stack ? "alignas(16) " : "", scalar_type(b.dtype), storage_[i].base,
         elements);
  }
}

}  // namespace tenon::codegen::cuda
