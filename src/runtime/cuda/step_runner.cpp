// See step_runner.h.
#include "runtime/cuda/step_runner.h"

#include <algorithm>
#include <bit>

#include "runtime/cuda/argument_block.h"

namespace tenon::runtime::cuda {
namespace {

constexpr int64_t kMostBlocks = 65536;
constexpr int64_t kScratchBlocksPerMultiprocessor = 4;
constexpr int64_t kItemsPerBlock = 4;  // more of them, and launches are recorded anew
constexpr int64_t kScratchAlignment = 256;
constexpr int kRecordAfter = 1;  // runs: what runs once is not worth recording

int64_t aligned(int64_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

}  // namespace

CudaStepRunner::CudaStepRunner(StepList steps, std::shared_ptr<const Modules> modules,
                               CudaStream& stream)
    : StepRunner(std::move(steps)),
      modules_(std::move(modules)),
      stream_(stream),
      first_number_(stream.enlist(steps_)),
      arguments_(stream),
      recorded_(stream) {
  size_t words = 0;
  for (int i = 0; i < steps_.size(); ++i) {
    offsets_.push_back(words);
    words += kFirstBufferWord + steps_.step(i).buffers.size() + steps_.step(i).dims.size();
  }
  words_.resize(words);
}

CudaStepRunner::~CudaStepRunner() { stream_.strike(steps_); }

// What scratch memory allows.
int64_t CudaStepRunner::most_blocks(int step) const {
  if (steps_.scratch_bytes(step) == 0) return kMostBlocks;
  return std::max(kScratchBlocksPerMultiprocessor * stream_.gpu().multiprocessors(), int64_t{1});
}

// A power of two, so that near extents need the same; blocks without a work item end at once.
int64_t CudaStepRunner::wanted_blocks(int step) const {
  const int64_t grid = std::clamp<int64_t>(steps_.grid(step), 1, kMostBlocks);
  const auto blocks = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(grid)));
  return std::min(blocks, most_blocks(step));
}

// What is recorded stays as long as its blocks get neither too many items nor too much scratch.
bool CudaStepRunner::is_stale(int step) const {
  const int64_t blocks = blocks_[static_cast<size_t>(step)], most = most_blocks(step);
  return blocks > most || (blocks < most && steps_.grid(step) > blocks * kItemsPerBlock);
}

void CudaStepRunner::choose_blocks() {
  bool stale = !recorded_.ready();
  for (int i = 0; i < steps_.size() && !stale; ++i) stale = is_stale(i);
  if (!stale) return;
  recorded_.clear();
  blocks_.clear();
  for (int i = 0; i < steps_.size(); ++i) blocks_.push_back(wanted_blocks(i));
}

Status CudaStepRunner::resolve(std::span<const int64_t> variables, int) {
  if (Status status = steps_.resolve(variables); !status.ok()) return status;
  choose_blocks();
  scratch_bytes_ = 0;  // one step after the other: they share it
  for (int i = 0; i < steps_.size(); ++i) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(aligned(steps_.scratch_bytes(i)), blocks_[static_cast<size_t>(i)],
                               &bytes))
      return user_error("the inputs' extents are too large to compute with");
    scratch_bytes_ = std::max(scratch_bytes_, bytes);
  }
  return {};
}

void CudaStepRunner::write_arguments(std::byte* scratch) {
  for (int i = 0; i < steps_.size(); ++i) {
    uint64_t* words = words_.data() + offsets_[static_cast<size_t>(i)];
    words[kGridWord] = static_cast<uint64_t>(steps_.grid(i));
    words[kScratchWord] = address_of(scratch);
    words[kScratchBytesWord] = static_cast<uint64_t>(aligned(steps_.scratch_bytes(i)));
    words[kFaultWord] = stream_.fault_words();
    words[kStepWord] = static_cast<uint64_t>(first_number_ + i);
    uint64_t* next = words + kFirstBufferWord;
    for (const void* pointer : steps_.pointers(i)) *next++ = address_of(pointer);
    for (const int64_t dim : steps_.dims(i)) *next++ = static_cast<uint64_t>(dim);
  }
}

Status CudaStepRunner::send_arguments(std::byte* scratch) {
  write_arguments(scratch);
  if (words_ == sent_) return {};
  const auto bytes = static_cast<int64_t>(words_.size() * sizeof(uint64_t));
  if (Status status = arguments_.reserve(bytes, "arguments"); !status.ok()) return status;
  sent_.clear();
  if (Status status = stream_.copy_in(arguments_.data(), words_.data(), bytes); !status.ok())
    return status;
  sent_ = words_;
  return {};
}

Status CudaStepRunner::launch(int step) {
  const Module& module = (*modules_)[steps_.step(step).code];
  uint64_t arguments =
      address_of(arguments_.data() + offsets_[static_cast<size_t>(step)] * sizeof(uint64_t));
  void* parameters[] = {&arguments};
  const Driver& driver = stream_.gpu().driver();
  return driver.check(
      driver.launch(module.function(), static_cast<unsigned>(blocks_[static_cast<size_t>(step)]), 1,
                    1, module.threads(), 1, 1, module.shared_bytes(), stream_.handle(), parameters,
                    nullptr),
      "cuLaunchKernel");
}

Status CudaStepRunner::launch_all(const std::stop_token& stop) {
  for (int i = 0; i < steps_.size(); ++i) {
    was_stopped_ = stop.stop_requested();
    if (was_stopped_) return user_error("[run] cancelled");
    if (Status status = launch(i); !status.ok()) return status;
  }
  return {};
}

Status CudaStepRunner::record() {
  return recorded_.record([&] { return launch_all({}); });
}

Status CudaStepRunner::run(std::byte* scratch, const std::stop_token& stop) {
  was_stopped_ = stop.stop_requested();
  if (was_stopped_) return user_error("[run] cancelled");
  if (steps_.size() == 0) return {};
  if (Status status = send_arguments(scratch); !status.ok()) return status;
  const Current current(stream_.gpu());
  stream_.note_launch();
  if (!recorded_.ready()) {
    if (!stream_.options().graphs || runs_++ < kRecordAfter)
      return stream_.noted(DevicePart::Compute, [&] { return launch_all(stop); });
    if (Status status = record(); !status.ok()) return status;
  }
  return stream_.noted(DevicePart::Compute, [&] { return recorded_.replay(); });
}

}  // namespace tenon::runtime::cuda
