/* Runs a compiled model from C: every input is ones, every symbolic extent is the one given.

     tenon compile model.onnx --output model.tenon
     run_artifact model.tenon 4 */
#include <stdio.h>
#include <stdlib.h>

#include "tenon/c_api.h"

enum { kMostRank = 8, kMostInputs = 16 };

static void check(tenon_status status) {
  if (status == TENON_OK) return;
  fprintf(stderr, "error %d: %s\n", (int)status, tenon_last_error());
  exit(1);
}

/* Memory for an input of this extent; ones. */
static void make_input(tenon_tensor* input, int64_t* extents, int64_t extent) {
  int64_t elements = 1;
  for (int axis = 0; axis < input->rank && axis < kMostRank; ++axis) {
    extents[axis] = input->extents[axis] < 0 ? extent : input->extents[axis];
    elements *= extents[axis];
  }
  input->extents = extents;
  if (input->dtype == TENON_I64) {
    int64_t* data = malloc(sizeof(int64_t) * (size_t)elements);
    for (int64_t i = 0; data && i < elements; ++i) data[i] = 1;
    input->data = data;
  } else if (input->dtype == TENON_F32) {
    float* data = malloc(sizeof(float) * (size_t)elements);
    for (int64_t i = 0; data && i < elements; ++i) data[i] = 1;
    input->data = data;
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: run_artifact FILE EXTENT\n");
    return 2;
  }
  tenon_model* model = NULL;
  check(tenon_load(argv[1], NULL, &model));

  tenon_tensor inputs[kMostInputs];
  int64_t extents[kMostInputs][kMostRank];
  const int count = tenon_input_count(model);
  if (count > kMostInputs) return 1;
  for (int i = 0; i < count; ++i) {
    check(tenon_describe_input(model, i, &inputs[i]));
    make_input(&inputs[i], extents[i], atoll(argv[2]));
  }
  check(tenon_run(model, inputs, count));

  for (int i = 0; i < tenon_output_count(model); ++i) {
    tenon_tensor output;
    check(tenon_get_output(model, i, &output));
    printf("%s:", output.name);
    for (int axis = 0; axis < output.rank; ++axis) printf(" %lld", (long long)output.extents[axis]);
    if (output.dtype == TENON_F32) printf(", begins with %g", (double)*(const float*)output.data);
    printf("\n");
  }
  for (int i = 0; i < count; ++i) free((void*)inputs[i].data);
  tenon_free(model);
  return 0;
}
