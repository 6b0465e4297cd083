// See driver.h.
#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include <atomic>

namespace tenon::runtime::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
std::atomic<const Driver*> instead = nullptr;

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

Result<const Driver*> load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads
  if (!library) return user_error("{} not found: no NVIDIA driver is installed", kLibrary);
  static Driver driver;
#define DRIVER(field, symbol, ...)           \
  if (!find(library, #symbol, driver.field)) \
    return user_error("{} has no {}: the NVIDIA driver is too old", kLibrary, #symbol);
#include "runtime/cuda/driver.def"
#undef DRIVER
  if (Status status = driver.check(driver.init(0), "cuInit"); !status.ok()) return status.error();
  return &driver;
}

}  // namespace

Status Driver::check(int result, const char* call) const {
  if (result == kSuccess) return {};
  const char *name = nullptr, *text = nullptr;
  if (error_name(result, &name) != kSuccess || !name) name = "an unknown error";
  if (error_text(result, &text) != kSuccess || !text) text = "no description";
  return user_error("[cuda] {}: {} ({}, {})", call, text, name, result);
}

void use_driver(const Driver& driver) { instead = &driver; }

Result<const Driver*> driver() {
  if (const Driver* other = instead) return other;
  static const Result<const Driver*> kLoaded = load();
  return kLoaded;
}

}  // namespace tenon::runtime::cuda
