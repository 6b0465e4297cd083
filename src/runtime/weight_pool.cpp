// See weight_pool.h.
#include "runtime/weight_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace tenon::runtime {
namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
}

// Memory that buffers made at the same time share: on the host, many small weights then lie in few
// huge pages.
struct Block {
  explicit Block(std::shared_ptr<Memory> from) : memory(std::move(from)), block(*memory) {}
  std::shared_ptr<Memory> memory;
  MemoryBlock block;
};

}  // namespace

class WeightPool {
 public:
  static WeightPool& get() {
    static auto* pool = new WeightPool;  // outlives whoever ends late
    return *pool;
  }

  Status obtain(std::span<const WeightRecipe> recipes, const std::shared_ptr<Memory>& memory,
                WeightBuffers& held) {
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    held.resize(recipes.size());
    WeightBuffers fresh;
    for (size_t i = 0; i < recipes.size(); ++i) {
      if (auto found = find(recipes[i].digest, *memory)) {
        held[i] = std::move(found);
      } else if (!use_again(held[i], recipes[i], *memory)) {
        held[i] = std::make_shared<WeightBuffer>();
        held[i]->recipe_ = recipes[i];
        known_[{memory.get(), recipes[i].digest}] = held[i];
        fresh.push_back(held[i]);
      }
    }
    Status status = fresh.empty() ? Status() : place(fresh, memory);
    if (!status.ok()) held.clear();
    return status;
  }

  Status fill(const WeightBuffers& buffers, Fill fill) {
    using State = WeightBuffer::State;
    std::vector<bool> empty(buffers.size());
    {
      std::unique_lock lock(mutex_);
      const auto others_fill = [&] {
        return std::ranges::any_of(
            buffers, [](const auto& buffer) { return buffer->state_ == State::Filling; });
      };
      // All or none: nobody waits while others wait for him.
      while (others_fill()) changed_.wait(lock);
      for (size_t i = 0; i < buffers.size(); ++i) {
        empty[i] = buffers[i]->state_ == State::Empty;
        if (empty[i]) buffers[i]->state_ = State::Filling;
      }
    }
    if (std::ranges::none_of(empty, [](bool each) { return each; })) return {};
    Status status = fill(empty);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (empty[i]) buffers[i]->state_ = status.ok() ? State::Filled : State::Empty;
    }
    changed_.notify_all();
    return status;
  }

  int64_t bytes() {
    const std::lock_guard lock(mutex_);
    int64_t sum = 0;
    for (const auto& [key, weak] : known_) {
      if (const auto buffer = weak.lock()) sum += aligned(buffer->recipe_.bytes);
    }
    return sum;
  }

 private:
  using Key = std::pair<const Memory*, Digest>;  // a buffer's block holds the memory

  std::shared_ptr<WeightBuffer> find(const Digest& digest, const Memory& memory) {
    const auto found = known_.find({&memory, digest});
    return found == known_.end() ? nullptr : found->second.lock();
  }

  // Others get one by `known_` only, so that who has the only reference now has it alone.
  bool use_again(const std::shared_ptr<WeightBuffer>& buffer, const WeightRecipe& recipe,
                 const Memory& memory) {
    if (!buffer || buffer.use_count() > 1 || buffer->recipe_.bytes != recipe.bytes) return false;
    known_.erase({&memory, buffer->recipe_.digest});
    buffer->recipe_ = recipe;
    buffer->state_ = WeightBuffer::State::Empty;
    known_[{&memory, recipe.digest}] = buffer;
    return true;
  }

  static Status place(const WeightBuffers& fresh, const std::shared_ptr<Memory>& memory) {
    int64_t bytes = 0;
    for (const auto& buffer : fresh) bytes += aligned(buffer->recipe_.bytes);
    auto block = std::make_shared<Block>(memory);
    if (Status status = block->block.reserve(bytes, "weights"); !status.ok()) return status;
    int64_t offset = 0;
    for (const auto& buffer : fresh) {
      buffer->block_ = block;
      buffer->data_ = block->block.data() + offset;
      offset += aligned(buffer->recipe_.bytes);
    }
    return {};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::weak_ptr<WeightBuffer>> known_;
};

Status obtain_weights(std::span<const WeightRecipe> recipes, const std::shared_ptr<Memory>& memory,
                      WeightBuffers& held) {
  return WeightPool::get().obtain(recipes, memory, held);
}

Status fill_weights(const WeightBuffers& buffers, Fill fill) {
  return WeightPool::get().fill(buffers, fill);
}

int64_t bytes_of_all_weights() { return WeightPool::get().bytes(); }

Digest unique_recipe() {
  static std::atomic<int64_t> count = 0;
  return Hasher().text("unique").number(++count).finish();
}

}  // namespace tenon::runtime
