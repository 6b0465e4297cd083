// A BufferPlan as text:
//   slot 0 at 0 : batch*64 bytes
//   buffer 1 : batch*16 bytes, view of arena 0 at batch*48
//   steady linear_gelu(input "x", packed 0) -> arena 0 @"layer.0"
// Everything that the plan has is there; the plans of a step's bodies stand below it, indented.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tenon/lir.h"

namespace tenon {
namespace {

class Writer {
 public:
  std::string write(const BufferPlan& plan) && {
    add(plan);
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void add(const BufferPlan& plan) {
    line("plan");
    ++depth_;
    line("alignment {}", plan.alignment);
    line("arena {} bytes", plan.arena_size.to_string());
    line("unshared {} bytes", plan.total_unshared_bytes.to_string());
    line("saved {} bytes", plan.bytes_saved.to_string());
    line("reused {} buffers", plan.buffers_reused);
    for (const std::string& symbol : plan.dynamic_symbols)
      line("dynamic {}", Dim(Symbol(symbol)).to_string());
    tensors("input", plan.inputs);
    tensors("param", plan.params);
    tensors("output", plan.outputs);
    for (size_t i = 0; i < plan.slots.size(); ++i) slot(i, plan.slots[i]);
    buffers(plan);
    for (const BufferPlan::Step& each : plan.order) step(each);
    --depth_;
  }

  void tensors(std::string_view kind, const std::vector<BufferPlan::Tensor>& tensors) {
    for (const auto& [name, type] : tensors) line("{} {:?} : {}", kind, name, type.to_string());
  }

  void slot(size_t index, const BufferPlan::Slot& slot) {
    line("slot {} at {} : {} bytes{}", index, slot.offset.to_string(), slot.size.to_string(),
         slot.stage == 0 ? "" : fmt::format(", stage {}", slot.stage));
  }

  // Views are listed in the order of their buffers.
  void buffers(const BufferPlan& plan) {
    size_t next_view = 0;
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      const BufferPlan::Buffer& buffer = plan.buffers[i];
      std::string place = "no memory";
      if (buffer.slot >= 0) {
        place = fmt::format("slot {} at {}", buffer.slot, buffer.offset.to_string());
      } else if (next_view < plan.views.size() &&
                 plan.views[next_view].buffer == static_cast<int>(i)) {
        const BufferPlan::ViewAlias& view = plan.views[next_view++];
        place = fmt::format("view of {} at {}", view.root, view.byte_offset.to_string());
      }
      line("buffer {} : {} bytes, {}", i, buffer.bytes.to_string(), place);
    }
  }

  void step(const BufferPlan::Step& step) {
    const std::string writes = fmt::format("{}", fmt::join(step.writes, ", "));
    line("{} {}({}){}{}", to_string(step.phase), step.kind, fmt::join(step.reads, ", "),
         writes.empty() ? "" : " -> " + writes,
         step.origin.empty() ? "" : fmt::format(" @{:?}", step.origin));
    ++depth_;
    for (const BufferPlan& body : step.bodies) add(body);
    --depth_;
  }

  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string to_string(const BufferPlan& plan) { return Writer().write(plan); }

}  // namespace tenon
