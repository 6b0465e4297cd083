#include "api/compiled_store.h"

#include <exception>

#include "api/differing_options.h"
#include "base/error.h"
#include "base/log.h"

namespace tenon {
namespace {

Session session_for(const Device& device, std::optional<PrecisionPolicy> policy) {
  const Session plain(device);
  return policy ? plain.with_policy(*policy) : plain;
}

}  // namespace

CompiledStore::CompiledStore(std::string what, const Device& device, size_t capacity,
                             std::optional<PrecisionPolicy> policy)
    : what_(std::move(what)),
      session_(session_for(device, policy)),
      store_(capacity, cache::Order::Fifo, [what = what_](CachedGraph& leaving) {
        try {
          leaving.sync();
        } catch (const std::exception& error) {  // nobody is there to catch it
          log(LogLevel::Warning, "{} was evicted, its last run failed: {}", what, error.what());
        }
      }) {}

CompiledStore::Entry CompiledStore::compile(uint64_t key, const CompileOptions& options,
                                            const Compile& compile) {
  Entry entry = store_.get_or_make(key, [&] {
    const Device& device = *session_.defaults().device;
    if (options.device.value_or(device) != device)
      throw user_error("{} {}: the cache is for {}, the options say {}", what_, key,
                       to_string(device), to_string(*options.device));
    return std::make_shared<CachedGraph>(compile(session_), options);
  });
  check_options(key, *entry, options);
  return entry;
}

CompiledStore::Entry CompiledStore::find_or_compile(uint64_t key, const Compile& compile) {
  return store_.get_or_make(
      key, [&] { return std::make_shared<CachedGraph>(compile(session_), CompileOptions()); });
}

void CompiledStore::sync_all() {
  std::exception_ptr first;
  store_.for_each([&](CachedGraph& entry) {
    try {
      entry.sync();
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  });
  if (first) std::rethrow_exception(first);
}

void CompiledStore::check_options(uint64_t key, const CachedGraph& entry,
                                  const CompileOptions& asked) const {
  if (are_given_alike(entry.given, asked)) return;
  const CompileOptions& defaults = session_.defaults();
  const std::string different =
      differing_options(merged(defaults, entry.given), merged(defaults, asked));
  if (different.empty()) return;
  throw user_error("{} {} was compiled by other options: {}", what_, key, different);
}

CompiledHandle handle_of(CompiledStore::Entry entry) {
  if (!entry) return nullptr;
  CompiledGraph* const graph = &entry->graph;
  return {std::move(entry), graph};
}

}  // namespace tenon
