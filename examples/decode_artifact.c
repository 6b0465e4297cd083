/* Generates tokens from C, with a compiled model whose caches stay between runs:

     decode decoder.tenon
     decode_artifact decoder.tenon */
#include <stdio.h>
#include <stdlib.h>

#include "tenon/c_api.h"

enum { kPrompt = 8, kTokens = 24, kMostInputs = 16 };

static void check(tenon_status status) {
  if (status == TENON_OK) return;
  fprintf(stderr, "error %d: %s\n", (int)status, tenon_last_error());
  exit(1);
}

/* The caches are the inputs of three axes: batch, past, width. */
static int caches_of(const tenon_model* model, tenon_tensor* caches) {
  int count = 0;
  for (int i = 0; i < tenon_input_count(model) && count < kMostInputs; ++i) {
    check(tenon_describe_input(model, i, &caches[count]));
    if (caches[count].rank == 3) ++count;
  }
  return count;
}

/* Nothing was read yet: no rows. */
static void begin(tenon_model* model, const tenon_tensor* caches, int count) {
  for (int i = 0; i < count; ++i) {
    const int64_t extents[] = {1, 0, caches[i].extents[2]};
    tenon_tensor empty = caches[i];
    empty.extents = extents;
    check(tenon_bind_handle(model, &empty));
  }
}

/* Reads some tokens; the likeliest one to come next. */
static int64_t read_tokens(tenon_model* model, const int64_t* tokens, int64_t count) {
  const int64_t extents[] = {1, count};
  const tenon_tensor ids = {"ids", TENON_I64, 2, extents, tokens};
  check(tenon_run(model, &ids, 1));
  tenon_tensor logits;
  check(tenon_get_output(model, 0, &logits));
  const int64_t words = logits.extents[2];
  const float* last = (const float*)logits.data + (count - 1) * words;
  int64_t best = 0;
  for (int64_t i = 1; i < words; ++i) best = last[i] > last[best] ? i : best;
  return best;
}

static void generate(tenon_model* model, int64_t* tokens) {
  const int64_t prompt[kPrompt] = {3, 1, 4, 1, 5, 9, 2, 6};
  int64_t next = read_tokens(model, prompt, kPrompt);
  for (int i = 0; i < kTokens; ++i) {
    tokens[i] = next;
    next = read_tokens(model, &tokens[i], 1);
  }
}

static int64_t kept(tenon_model* model, const char* cache) {
  tenon_tensor value;
  check(tenon_read_handle(model, cache, &value));
  return value.extents[1];
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: decode_artifact FILE\n");
    return 2;
  }
  tenon_model *model = NULL, *other = NULL;
  check(tenon_load(argv[1], NULL, &model));
  tenon_tensor caches[kMostInputs];
  const int count = caches_of(model, caches);
  int64_t tokens[kTokens], again[kTokens];
  begin(model, caches, count);
  generate(model, tokens);

  /* The same beginning for another sequence: four tokens of it. */
  check(tenon_clone(model, &other));
  for (int i = 0; i < count; ++i) {
    tenon_handle* fork = NULL;
    check(tenon_fork_handle(model, caches[i].name, &fork));
    check(tenon_bind_fork(other, caches[i].name, fork));
    check(tenon_trim_handle(other, caches[i].name, 4));
    tenon_free_fork(fork);
  }
  const int64_t seven = 7;
  read_tokens(other, &seven, 1);
  printf("%d tokens after the prompt: %lld are kept, %lld in the fork\n", (int)kTokens,
         (long long)kept(model, caches[0].name), (long long)kept(other, caches[0].name));

  begin(model, caches, count);
  generate(model, again);
  int same = 1;
  for (int i = 0; i < kTokens; ++i) same = same && tokens[i] == again[i];
  printf("%s\n", same ? "the same tokens again" : "other tokens");
  tenon_free(other);
  tenon_free(model);
  return 0;
}
