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
   tenon_clone it for others. */
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
  TENON_INTERNAL_ERROR = 3     /* a bug in Tenon, or no memory */
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

typedef struct tenon_load_options {
  int threads;      /* 0: as many as this process may use */
  int skip_weights; /* 1: do not compare the weights with their digest, which reads all of them */
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

/* Runs with inputs in any order, all of them. */
tenon_status tenon_run(tenon_model* model, const tenon_tensor* inputs, int input_count);
/* An output of the last run, which must have succeeded. Good until the next run. */
tenon_status tenon_get_output(const tenon_model* model, int index, tenon_tensor* output);

/* NOLINTEND(readability-identifier-naming, bugprone-macro-parentheses) */

#ifdef __cplusplus
}
#endif

#endif
