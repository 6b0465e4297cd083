// See device_weights.h.
#include "runtime/device_weights.h"

#include <map>
#include <mutex>
#include <utility>

#include "runtime/cpu/release_pages.h"

namespace tenon::runtime {
namespace {

constexpr int64_t kAlignment = 256;

// Who holds weights holds the program too, so an address names one program while they live.
struct Registry {
  std::mutex mutex;
  std::map<std::pair<const program::Program*, const Memory*>, std::weak_ptr<const DeviceWeights>>
      known;
};

Registry& registry() {
  static Registry registry;
  return registry;
}

}  // namespace

Result<std::shared_ptr<const DeviceWeights>> DeviceWeights::of(const program::Program& program,
                                                               DeviceStream& stream) {
  std::shared_ptr<Memory> memory = stream.lasting_memory();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const DeviceWeights>& known = all.known[{&program, memory.get()}];
  if (auto weights = known.lock()) return weights;
  std::shared_ptr<DeviceWeights> weights(new DeviceWeights(std::move(memory)));
  if (Status status = weights->upload(program, stream); !status.ok()) return status.error();
  known = weights;
  return std::shared_ptr<const DeviceWeights>(std::move(weights));
}

Status DeviceWeights::upload(const program::Program& program, DeviceStream& stream) {
  std::vector<std::span<const std::byte>> sources;
  for (const program::ParamSlot& slot : program.params) sources.push_back(slot.initial);
  for (const program::ConstantSlot& slot : program.constants) sources.emplace_back(slot.bytes);
  int64_t bytes = 0;
  std::vector<int64_t> offsets;
  for (const auto& source : sources) {
    offsets.push_back(bytes);
    bytes += (static_cast<int64_t>(source.size()) + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (Status status = block_.reserve(bytes, "weights"); !status.ok()) return status;
  std::vector<void*> places;
  for (size_t i = 0; i < sources.size(); ++i) {
    places.push_back(sources[i].empty() ? nullptr : block_.data() + offsets[i]);
    const auto size = static_cast<int64_t>(sources[i].size());
    if (Status status = stream.copy_in(places[i], sources[i].data(), size); !status.ok())
      return status;
  }
  // Other streams may read it from here on.
  if (Status status = stream.synchronize(); !status.ok()) return status;
  const auto first_constant = places.begin() + static_cast<ptrdiff_t>(program.params.size());
  params_.assign(places.begin(), first_constant);
  constants_.assign(first_constant, places.end());
  sources.resize(program.params.size());
  cpu::release_file_pages(sources);
  return {};
}

}  // namespace tenon::runtime
