// What the C API's opaque types hold, and how exceptions become statuses: no exception leaves a
// function, what is thrown becomes a status and the text of the calling thread.
#pragma once

#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tenon/c_api.h"
#include "tenon/compiled_graph.h"

namespace tenon::compiled {

// A tensor as the model describes it, with the memory that its description points to.
struct TensorDescription {
  explicit TensorDescription(const TensorInfo& info);
  std::string name;
  DType dtype;
  std::vector<int64_t> extents;
};

}  // namespace tenon::compiled

// NOLINTBEGIN(readability-identifier-naming): names as C has them

struct tenon_model {
  explicit tenon_model(tenon::CompiledGraph compiled);
  tenon::CompiledGraph graph;
  std::vector<tenon::compiled::TensorDescription> inputs, outputs;
  std::vector<tenon::DimInfo> dims;
  tenon::RunOptions options;
  const std::vector<tenon::TensorView>* last = nullptr;  // of the last run; null where it failed
  std::optional<tenon::OwnedTensor> read;                // a handle's value
  std::vector<std::span<const std::byte>> slots;         // of the present run
};

struct tenon_handle {
  tenon::Handle handle;
};

struct tenon_stop {
  std::stop_source source;
};

// NOLINTEND(readability-identifier-naming)

namespace tenon::compiled {

// Keeps the message for tenon_last_error; "" where there is no memory for it.
tenon_status failed(tenon_status status, const char* message) noexcept;
void clear_last_error() noexcept;
tenon_status status_of(ErrorKind kind);

template <typename Call>
tenon_status guarded(Call call) noexcept {
  try {
    clear_last_error();
    call();
    return TENON_OK;
  } catch (const Cancelled& cancelled) {
    return failed(TENON_CANCELLED, cancelled.what());
  } catch (const Error& error) {
    return failed(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(TENON_INTERNAL_ERROR, "out of memory");
  } catch (const std::exception& error) {
    return failed(TENON_INTERNAL_ERROR, error.what());
  }
}

template <typename T>
T& given(T* pointer, const char* function, const char* argument) {
  if (!pointer) throw user_error("[{}] {} is NULL", function, argument);
  return *pointer;
}

template <typename Items>
auto& item(Items& items, int index, const char* function, const char* what = "tensor") {
  if (index < 0 || static_cast<size_t>(index) >= items.size())
    throw user_error("[{}] there is no {} {}: there are {}", function, what, index, items.size());
  return items[static_cast<size_t>(index)];
}

// `count` items that a caller says are there.
template <typename T>
std::span<const T> items(const T* first, int count, const char* function, const char* what) {
  if (count < 0 || (count > 0 && !first))
    throw user_error("[{}] {} {}, and where they are is NULL", function, count, what);
  return {first, static_cast<size_t>(count)};
}

tenon_tensor describe(const TensorDescription& of);
TensorView view_of(const tenon_tensor& tensor, const char* function);

}  // namespace tenon::compiled
