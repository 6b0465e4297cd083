// BucketedCompileCache: a graph for each range of extents, compiled for its largest one when it is
// first needed.
//
//   tenon::BucketedCompileCache cache(tenon::Device::Cpu(),
//                                     tenon::BucketedCompileCache::power_of_two_ladder(16, 512));
//   auto ran = cache.run_padded(rows, rows, [](int64_t upper) { return model(upper); },
//                               {{"x", data, 64}}, {64});
//   if (ran) use(ran->outputs[0]);  // rows * 64 floats
//
// Every call may be made from any thread, the handles are CompiledGraphs: one thread at a time,
// clones for others. docs/caches.md compares the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/bucket.h"
#include "tenon/compiled_handle.h"
#include "tenon/param_store.h"
#include "tenon/session.h"

namespace tenon {

class CompiledStore;

// A compiled bucket.
struct CompiledBucket {
  int64_t upper = 0;
  CompiledHandle handle;
};

// An input of rows: as many as the run has, of `inner` elements each, one after the other.
struct RowsInput {
  std::string name;
  TensorView data;
  int64_t inner = 0;
};
// An input of rows, or, without row_inner, one that is passed as it is.
struct CacheRunInput {
  std::string name;
  TensorView data;
  std::optional<int64_t> row_inner = {};
};

struct PaddedRun {
  int64_t upper = 0;                        // of the bucket that ran
  std::vector<std::vector<float>> outputs;  // as f32, whatever their dtype
};

class BucketedCompileCache {
 public:
  // At least one, none empty, sorted, none over another; gaps are allowed. Others are an Error.
  BucketedCompileCache(const Device& device, std::vector<Bucket> buckets,
                       std::optional<PrecisionPolicy> policy = {});
  ~BucketedCompileCache();

  // From 1 on, up to powers of two: `min` rounded up to one, then doubled until it is at least
  // `max`. (8, 64) gives 1..9, 9..17, 17..33, 33..65.
  static std::vector<Bucket> power_of_two_ladder(int64_t min, int64_t max);

  // The graph of the bucket that has the key, compiled by what build(upper) returns: a Graph, a
  // HirModule, a GraphModule or a LirModule. It is called once for a bucket, however many threads
  // ask; an exception of it or of the compiler leaves the bucket uncompiled. nullopt, without
  // calling it, where no bucket has the key.
  template <typename Build>
  std::optional<CompiledBucket> get_or_compile(int64_t key, Build&& build) {
    return get_or_compile_with_options(key, {}, std::forward<Build>(build));
  }
  // The options belong to the bucket: asking for it with others is an Error that names both. The
  // device is the cache's.
  template <typename Build>
  std::optional<CompiledBucket> get_or_compile_with_options(int64_t key,
                                                            const CompileOptions& options,
                                                            Build&& build) {
    const std::optional<size_t> bucket = bucket_for(key);
    if (!bucket) return std::nullopt;
    return compiled(*bucket, options, [&](const Session& session) {
      return session.compile(build(buckets_[*bucket].upper()), options);
    });
  }
  // The same, of builders that return a HirModule.
  template <typename Build>
  std::optional<CompiledBucket> get_or_compile_hir(int64_t key, Build&& build) {
    return get_or_compile_hir_with_options(key, {}, std::forward<Build>(build));
  }
  template <typename Build>
  std::optional<CompiledBucket> get_or_compile_hir_with_options(int64_t key,
                                                                const CompileOptions& options,
                                                                Build&& build) {
    return get_or_compile_with_options(key, options,
                                       [&](int64_t upper) -> HirModule { return build(upper); });
  }

  // The bucket compiled with parameters: build(upper) returns the graph and a store of the values,
  // which are taken once, when the bucket is compiled. Buckets that are given the same store share
  // them, in memory too. A name that is no parameter of the graph's is an Error, and the bucket
  // stays uncompiled.
  template <typename Build>
  std::optional<CompiledBucket> ensure_graph_with_params(int64_t key, Build&& build,
                                                         const CompileOptions& options = {}) {
    return ensure_with_params<Graph>(key, options, std::forward<Build>(build));
  }
  template <typename Build>
  std::optional<CompiledBucket> ensure_hir_with_params(int64_t key, Build&& build,
                                                       const CompileOptions& options = {}) {
    return ensure_with_params<HirModule>(key, options, std::forward<Build>(build));
  }

  // Runs `rows` rows in the bucket that has the key, which is compiled if it is not yet: by an
  // active extent, so that it takes the time of its rows. nullopt where no bucket has the key. More
  // rows than the bucket's upper bound, or an input of another number of rows, are an Error before
  // anything is compiled or runs. Threads that run in one bucket wait for each other.
  //
  // Of each output its first `rows` rows of as many elements as output_inners says; all of it where
  // that is 0 or missing: what lies past `rows` along the bucket's axis is then zero. (Where shapes
  // do not follow from the rows, see active_extent_report, and other axes have the extent of the
  // bucket too, it is what the zeros of the padding gave.)
  template <typename Build>
  std::optional<PaddedRun> run_padded(int64_t key, int64_t rows, Build&& build,
                                      const std::vector<RowsInput>& inputs,
                                      const std::vector<int64_t>& output_inners = {}) {
    std::vector<CacheRunInput> mixed;
    for (const RowsInput& input : inputs) mixed.push_back({input.name, input.data, input.inner});
    return run_padded_mixed(key, rows, std::forward<Build>(build), mixed, output_inners);
  }
  // The same, with inputs that are no rows among them.
  template <typename Build>
  std::optional<PaddedRun> run_padded_mixed(int64_t key, int64_t rows, Build&& build,
                                            const std::vector<CacheRunInput>& inputs,
                                            const std::vector<int64_t>& output_inners = {}) {
    const std::optional<size_t> bucket = bucket_for(key);
    if (!bucket) return std::nullopt;
    return run(*bucket, rows, inputs, output_inners, [&](const Session& session) {
      return session.compile(build(buckets_[*bucket].upper()));
    });
  }

  std::optional<size_t> bucket_for(int64_t key) const;  // its index in buckets()
  std::optional<int64_t> bucket_upper_for_key(int64_t key) const;
  const std::vector<Bucket>& buckets() const { return buckets_; }
  size_t total_buckets() const { return buckets_.size(); }
  size_t compiled_count() const;
  CompiledHandle compiled_for_key(int64_t key) const;  // null: not compiled, or no bucket has it
  // Waits for the pending runs of all buckets. Faults that they found are an Error, of the first
  // bucket that has one. What another thread uses at the time is left to it.
  void sync_all();

 private:
  using Compile = std::function<CompiledGraph(const Session&)>;

  template <typename Module, typename Build>
  std::optional<CompiledBucket> ensure_with_params(int64_t key, const CompileOptions& options,
                                                   Build&& build) {
    const std::optional<size_t> bucket = bucket_for(key);
    if (!bucket) return std::nullopt;
    return compiled(*bucket, options, [&](const Session& session) {
      const std::pair<Module, ParamStore> built = build(buckets_[*bucket].upper());
      CompiledGraph graph = session.compile(built.first, options);
      graph.use_params(built.second);
      return graph;
    });
  }

  CompiledBucket compiled(size_t bucket, const CompileOptions& options, const Compile& compile);
  // By whatever options the bucket is compiled.
  PaddedRun run(size_t bucket, int64_t rows, const std::vector<CacheRunInput>& inputs,
                const std::vector<int64_t>& output_inners, const Compile& compile);

  std::vector<Bucket> buckets_;
  std::unique_ptr<CompiledStore> store_;
};

}  // namespace tenon
