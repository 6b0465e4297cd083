// AotCache: compiled models in a folder, for other processes and for the next start of this one.
//
//   tenon::AotCache cache;  // in the folder of TENON_CACHE_DIR
//   tenon::CompiledGraph graph = cache.compile(model);  // read, or compiled and kept
//   tenon::CompiledGraph encoder = cache.compile_onnx("encoder.onnx");
//
// An entry is found by everything that decides what is compiled: graph, constants, options, the
// CPU's or GPU's features, versions. It has code and plans, no weights: those are the model's. What
// is stale, cut, damaged or another's counts as absent. Of threads and processes that need what is
// absent one compiles it. Where the folder cannot be used, everything is compiled, and a warning
// says why. Loading code is running it: the folder must be its owner's alone. docs/disk_cache.md.
//
// Every call may be made from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/session.h"

namespace tenon {

class AotCache {
 public:
  // An empty folder: that of TENON_CACHE_DIR, or `tenon` in XDG_CACHE_HOME or ~/.cache. It is made
  // if it is absent. `max_bytes`: what was not used for longest goes when there is more; 0: as
  // TENON_CACHE_MAX says.
  explicit AotCache(const std::string& folder = {}, uint64_t max_bytes = 0);

  // As Session::compile, of a Graph, a HirModule, a GraphModule or a LirModule.
  template <typename Model>
  CompiledGraph compile(const Model& model, const CompileOptions& options = {}) {
    return session_.compile(model, options);
  }
  CompiledGraph compile_onnx(const std::string& path, const CompileOptions& options = {}) {
    return session_.compile_onnx(path, options);
  }
  // `base` for these extents alone. Where that was compiled before, nothing is specialized, planned
  // or compiled. The binding is checked as LirModule::specialize does.
  CompiledGraph specialize_cached(const LirModule& base, const DimBinding& binding,
                                  const CompileOptions& options = {});

  struct Field {
    std::string name, value;
    bool operator==(const Field&) const = default;
  };
  struct Entry {
    std::vector<Field> key;
    uint64_t bytes = 0;     // of its file
    uint64_t last_use = 0;  // a number that grows with every use; 0: not known
    std::string value(const std::string& field) const;  // empty: the key has no such field
  };
  std::vector<Entry> entries() const;  // the last used first

  // Whether compiling would find an entry, and if not, what the most similar one has different.
  struct Why {
    struct Difference {
      std::string field, wanted, kept;  // empty: that key has no such field
    };
    bool found = false;
    std::optional<Entry> nearest = {};  // none: the cache is empty. Where found: that entry
    std::vector<Difference> differences = {};
  };
  Why why_onnx(const std::string& path, const CompileOptions& options = {}) const;
  Why why(const Graph& graph, const CompileOptions& options = {}) const;

  struct Damaged {
    std::string file, reason;
  };
  // Reads all entries whole.
  std::vector<Damaged> verify(bool remove_damaged = false);
  void clear();

  const std::string& folder() const;
  bool usable() const;  // else everything is compiled, and nothing is kept

 private:
  std::shared_ptr<cache::DiskStore> store_;
  Session session_;
};

}  // namespace tenon
