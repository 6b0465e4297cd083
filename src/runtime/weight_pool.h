// Weights in the form that kernels read, made once per process: uploaded, packed, converted. Each
// is known by its recipe, a digest of how it is made and of what. Whoever asks for the same recipe
// in the same memory gets the same buffer; it goes with the last who holds it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/hash.h"
#include "base/result.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

inline constexpr int64_t kWeightAlignment = 256;  // what kernels of any device may count on

struct WeightRecipe {
  Digest digest;
  int64_t bytes = 0;
  // What the digest names by its address: it stays while the buffer does.
  std::vector<std::shared_ptr<const void>> sources = {};
};

class WeightBuffer {
 public:
  std::byte* data() const { return data_; }

 private:
  friend class WeightPool;
  enum class State : uint8_t { Empty, Filling, Filled };

  WeightRecipe recipe_;
  std::shared_ptr<const void> block_;  // with those that were made at the same time
  std::byte* data_ = nullptr;
  State state_ = State::Empty;
};

using WeightBuffers = std::vector<std::shared_ptr<WeightBuffer>>;

// `held` becomes a buffer for each of the recipes. What it had before, of the same number or none,
// is used again where nobody else holds it. After an error it is empty.
Status obtain_weights(std::span<const WeightRecipe> recipes, const std::shared_ptr<Memory>& memory,
                      WeightBuffers& held);

// Has `fill` write those that are not filled yet, for which it gets true; nobody else can read
// them before it has returned. Whoever wants one of them meanwhile waits; after an error, the next
// one tries again.
using Fill = FunctionRef<Status(const std::vector<bool>& empty)>;
Status fill_weights(const WeightBuffers& buffers, Fill fill);

// Of all buffers there are now, in any memory.
int64_t bytes_of_all_weights();

// Of a value that is equal to no other.
Digest unique_recipe();

}  // namespace tenon::runtime
