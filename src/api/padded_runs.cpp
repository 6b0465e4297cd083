// BucketedCompileCache: runs of some rows of a bucket. Nothing is copied to be padded: an active
// extent takes inputs of the rows there are, and fills them up only where a program cannot.
#include "api/compiled_store.h"
#include "base/error.h"
#include "runtime/io_view.h"
#include "tenon/bucketed_compile_cache.h"

namespace tenon {
namespace {

int64_t elements_of(const TensorView& view) {
  if (view.elements >= 0) return view.elements;
  return runtime::dense_bytes(view.dtype, view.shape).take() / size_of(view.dtype);
}

void check_rows(const CacheRunInput& input, int64_t rows) {
  if (!input.row_inner) return;
  const int64_t inner = *input.row_inner, elements = elements_of(input.data);
  if (inner < 1)
    throw user_error("[run_padded] input \"{}\": a row of {} elements; at least 1 is needed",
                     input.name, inner);
  if (elements % inner != 0)
    throw user_error("[run_padded] input \"{}\": {} elements are not whole rows of {}", input.name,
                     elements, inner);
  if (elements / inner != rows)
    throw user_error("[run_padded] input \"{}\" has {} rows of {}, but the run has {}", input.name,
                     elements / inner, inner, rows);
}

void check_inner(int64_t inner) {
  if (inner < 0)
    throw user_error("[run_padded] rows of {} elements of an output: 0 or more are needed", inner);
}

}  // namespace

PaddedRun BucketedCompileCache::run(size_t bucket, int64_t rows,
                                    const std::vector<CacheRunInput>& inputs,
                                    const std::vector<int64_t>& output_inners,
                                    const Compile& compile) {
  const int64_t upper = buckets_[bucket].upper();
  if (rows > upper) throw user_error("[run_padded] {} rows exceed upper, {}", rows, upper);
  if (rows < 1) throw user_error("[run_padded] {} rows: at least 1 is needed", rows);
  NamedInputs views;
  for (const CacheRunInput& input : inputs) {
    check_rows(input, rows);
    if (!views.emplace(input.name, input.data).second)
      throw user_error("[run_padded] input \"{}\" is given twice", input.name);
  }
  for (const int64_t inner : output_inners) check_inner(inner);
  const CompiledStore::Entry entry = store_->find_or_compile(bucket, compile);
  return {upper, entry->run_rows(rows, upper, views, output_inners)};
}

}  // namespace tenon
