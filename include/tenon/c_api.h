/* Compiled models from C: load what `tenon compile` or CompiledGraph::save wrote, and run it.
   Neither the compiler nor C++ is needed: the library is libtenon_runtime.

     tenon_model* model;
     if (tenon_load("encoder.tenon", NULL, &model) != TENON_OK) puts(tenon_last_error());
     const int64_t extents[] = {1, 3}, ids[] = {101, 2023, 102};
     const tenon_tensor input = {"input_ids", TENON_I64, 2, extents, ids};
     if (tenon_run(model, &input, 1) != TENON_OK) puts(tenon_last_error());
     tenon_tensor hidden;
     tenon_get_output(model, 0, &hidden);
     tenon_free(model);

   A function that can fail returns a status, changes nothing when it fails (but a run that failed
   leaves no outputs), and says why in tenon_last_error. One thread at a time may use a model:
   tenon_clone it for others. decode_artifact.c among the examples is a whole program. */
#ifndef TENON_C_API_H
#define TENON_C_API_H

#include <stdint.h>

#include "tenon/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming, bugprone-macro-parentheses): names as C has them */

typedef enum tenon_status {
  TENON_OK = 0,
  TENON_USER_ERROR = 1,        /* what was given is wrong: a file, a name, a shape */
  TENON_UNSUPPORTED_ERROR = 2, /* Tenon cannot do this yet */
  TENON_INTERNAL_ERROR = 3,    /* a bug in Tenon, or no memory */
  TENON_CANCELLED = 4          /* a run that was asked to stop */
} tenon_status;

/* Element types: TENON_F32, TENON_I64, TENON_Bool and so on, with ONNX's numbers. */
typedef enum tenon_dtype {
#define DTYPE(Name, text, bits, kind, onnx, storage) TENON_##Name = onnx,
#include "tenon/dtypes.def"
#undef DTYPE
  TENON_NO_DTYPE = 0
} tenon_dtype;

/* A dense tensor, row-major. What it points to belongs to whoever gives it. */
typedef struct tenon_tensor {
  const char* name;
  tenon_dtype dtype;
  int rank;
  const int64_t* extents; /* of a model's description: -1 where any extent may come */
  const void* data;       /* of a model's description: NULL */
} tenon_tensor;

/* When weights are compared with their digests, which reads them. */
typedef enum tenon_weight_check {
  TENON_CHECK_WHEN_READ = 0, /* by the first run that needs them */
  TENON_CHECK_AT_LOAD = 1,
  TENON_CHECK_NEVER = 2
} tenon_weight_check;

typedef struct tenon_load_options {
  int threads; /* 0: as many as this process may use */
  tenon_weight_check check_weights;
  const char* device; /* "cpu", "cuda", "cuda:1"; NULL: the CPU, or the first GPU where the file
                         has no code for CPUs */
} tenon_load_options;

typedef struct tenon_model tenon_model;

/* Of the library, "0.1.0"; TENON_VERSION_STRING is of the headers. */
const char* tenon_version(void);

/* Why the last call of this thread failed; "" where none did. Good until its next call. */
const char* tenon_last_error(void);

/* `options` may be NULL. The file is mapped: it must not change while the model lives. It contains
   machine code: load no file whose origin you do not trust. */
tenon_status tenon_load(const char* path, const tenon_load_options* options, tenon_model** model);
/* Another one with the same code and weights, for another thread. */
tenon_status tenon_clone(const tenon_model* model, tenon_model** clone);
void tenon_free(tenon_model* model); /* NULL is fine */

/* What the model takes and gives. Good while the model lives. */
int tenon_input_count(const tenon_model* model);
int tenon_output_count(const tenon_model* model);
tenon_status tenon_describe_input(const tenon_model* model, int index, tenon_tensor* input);
tenon_status tenon_describe_output(const tenon_model* model, int index, tenon_tensor* output);

/* Copies the value of a parameter that the model has no data of, or another value. */
tenon_status tenon_set_param(tenon_model* model, const tenon_tensor* value);

/* Runs with inputs in any order, all of them but those that have a handle. */
tenon_status tenon_run(tenon_model* model, const tenon_tensor* inputs, int input_count);
/* An output of the last run, which must have succeeded. Good until the next run. */
tenon_status tenon_get_output(const tenon_model* model, int index, tenon_tensor* output);

/* Runs that allocate nothing after the first of a shape: inputs in the order of
   tenon_describe_input, those without a handle, dense, of exactly the bytes that the extents make
   them. Extents: one for each dim; a model without dims needs none. */
typedef struct tenon_dim {
  const char* name;
  int64_t least, most; /* extents it may take */
} tenon_dim;
typedef struct tenon_extent {
  const char* dim;
  int64_t value;
} tenon_extent;
typedef struct tenon_bytes {
  const void* data;
  int64_t size;
} tenon_bytes;
int tenon_dim_count(const tenon_model* model);
tenon_status tenon_describe_dim(const tenon_model* model, int index, tenon_dim* dim);
/* Dims that only states have may be left out: their handles know them. */
tenon_status tenon_set_extents(tenon_model* model, const tenon_extent* extents, int extent_count);
tenon_status tenon_run_slots(tenon_model* model, const tenon_bytes* inputs, int input_count);

/* Of a model compiled for a bucket: runs compute `actual` rows of `upper` until the active extent
   is cleared. Rows of outputs past them stay what they were. docs/active_extent.md. */
tenon_status tenon_set_active_extent(tenon_model* model, int64_t actual, int64_t upper);
tenon_status tenon_clear_active_extent(tenon_model* model);

/* Asks runs to stop, once and for all. The one function that other threads may call meanwhile. */
typedef struct tenon_stop tenon_stop;
tenon_status tenon_make_stop(tenon_stop** stop);
void tenon_request_stop(tenon_stop* stop);
void tenon_free_stop(tenon_stop* stop); /* NULL is fine; runs may still have it */

typedef struct tenon_run_options {
  int64_t memory_limit;   /* the most bytes a run may take between its steps; 0: no limit */
  const tenon_stop* stop; /* asked to stop, a run ends with TENON_CANCELLED; NULL: none asks */
} tenon_run_options;
/* Of the model's runs from now on, not of its clones'. NULL: none. */
tenon_status tenon_set_run_options(tenon_model* model, const tenon_run_options* options);

/* Handles: inputs that stay on the device between runs, which then leave them out. A state needs
   one, of its first value: empty along its axis, as a rule (data may be NULL then). docs/state.md.

   A copy of a dense value; or what was forked, of this model or a clone: it stays as it is. */
typedef struct tenon_handle tenon_handle;
tenon_status tenon_bind_handle(tenon_model* model, const tenon_tensor* value);
tenon_status tenon_bind_fork(tenon_model* model, const char* name, const tenon_handle* fork);
tenon_status tenon_unbind_handle(tenon_model* model, const char* name);
int tenon_has_handle(const tenon_model* model, const char* name);
/* Its value as it is now; there must be one. Good until the next one is read. */
tenon_status tenon_read_handle(tenon_model* model, const char* name, tenon_tensor* value);
/* Keeps the first `length` rows: along the axis of a state, else along the outermost. */
tenon_status tenon_trim_handle(tenon_model* model, const char* name, int64_t length);
/* The value as it is now, whatever runs do with theirs later. Nothing is copied before one of both
   changes. */
tenon_status tenon_fork_handle(tenon_model* model, const char* name, tenon_handle** fork);
/* Its dtype and extents; good while it lives. */
tenon_status tenon_describe_fork(const tenon_handle* fork, tenon_tensor* description);
void tenon_free_fork(tenon_handle* fork); /* NULL is fine */
/* From now on the output of each run is the handle's value for the next. NULL: no output is. */
tenon_status tenon_set_handle_feed(tenon_model* model, const char* name, const char* output);

/* NOLINTEND(readability-identifier-naming, bugprone-macro-parentheses) */

#ifdef __cplusplus
}
#endif

#endif
