#include "compiled/output_block.h"

#include <cstring>
#include <utility>

namespace tenon::compiled {
namespace {

constexpr int64_t kAlignment = 64;

}  // namespace

OutputBlock::OutputBlock(const program::Program& program)
    : program_(&program),
      slots_(program.outputs.size()),
      views_(program.outputs.size()),
      targets_(program.outputs.size()) {
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    views_[i].dtype = program.outputs[i].type.dtype;
    has_late_ = has_late_ || program.outputs[i].late >= 0;
  }
}

// Offsets of the outputs whose extents are known before the run, or of those known after it.
Status OutputBlock::place(const runtime::Executor& executor, const ActiveRows* rows, bool late) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if ((program_->outputs[i].late >= 0) != late) continue;
    auto extents = executor.output_extents(static_cast<int>(i));
    if (rows && !rows->full_extents(i).empty()) extents = rows->full_extents(i);
    const auto bytes = runtime::dense_bytes(views_[i].dtype, extents);
    if (!bytes) return bytes.error();
    int64_t end = 0;
    if (__builtin_add_overflow(used_, bytes.value(), &end) || end > runtime::kMostBytes)
      return user_error("out of memory: {} bytes for output \"{}\"", bytes.value(),
                        program_->outputs[i].name);
    moved_ = moved_ || slots_[i].offset != used_ || slots_[i].length != bytes.value();
    slots_[i] = {used_, bytes.value()};
    views_[i].shape.assign(extents.begin(), extents.end());
    used_ = (end + kAlignment - 1) / kAlignment * kAlignment;
  }
  return {};
}

void OutputBlock::point() {
  for (size_t i = 0; i < slots_.size(); ++i) views_[i].data = block_.data() + slots_[i].offset;
}

// What only the run could know comes after the others, which move where there is no room.
Status OutputBlock::take_late(runtime::Executor& executor) {
  const int64_t before = used_;
  if (Status status = place(executor, nullptr, true); !status.ok()) return status;
  if (used_ > block_.size()) {
    runtime::MemoryBlock larger;
    if (Status status = larger.reserve(used_, "outputs"); !status.ok()) return status;
    if (before > 0) std::memcpy(larger.data(), block_.data(), static_cast<size_t>(before));
    block_ = std::move(larger);
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (program_->outputs[i].late < 0 || slots_[i].length == 0) continue;
    const std::span<std::byte> to(block_.data() + slots_[i].offset,
                                  static_cast<size_t>(slots_[i].length));
    if (Status status = executor.read_late_output(static_cast<int>(i), to); !status.ok())
      return status;
  }
  return {};
}

// Memory that a run under way writes to must not go.
Status OutputBlock::make_room(runtime::Executor& executor) {
  if (used_ <= block_.size()) return {};
  if (Status status = executor.wait(); !status.ok()) return status;
  return block_.reserve(used_, "outputs");
}

Status OutputBlock::begin(runtime::Executor& executor, const ActiveRows& rows,
                          const runtime::RunOptions& options) {
  filled_ = false;
  used_ = 0;
  moved_ = std::exchange(forgets_rows_, false);
  if (Status status = place(executor, &rows, false); !status.ok()) return status;
  if (Status status = make_room(executor); !status.ok()) return status;
  if (moved_ && rows.upper() > 0 && used_ > 0) {
    if (Status status = executor.wait(); !status.ok()) return status;
    std::memset(block_.data(), 0, static_cast<size_t>(used_));
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (program_->outputs[i].late >= 0) continue;
    targets_[i] = {block_.data() + slots_[i].offset, views_[i].dtype,
                   executor.output_extents(static_cast<int>(i)), views_[i].shape};
  }
  return executor.commit(targets_, options);
}

Status OutputBlock::finish(runtime::Executor& executor) {
  if (Status status = executor.wait(); !status.ok()) return status;
  if (has_late_) {
    if (Status status = take_late(executor); !status.ok()) {
      executor.take_back();
      return status;
    }
  }
  point();
  filled_ = true;
  return {};
}

Status OutputBlock::run(runtime::Executor& executor, const ActiveRows& rows,
                        const runtime::RunOptions& options) {
  if (Status status = begin(executor, rows, options); !status.ok()) return status;
  return finish(executor);
}

}  // namespace tenon::compiled
