// The masks of ONNX Runtime's attention ops: which keys count, given in one of many forms, as a
// bias of the scores.
#pragma once

#include "import/onnx/heads.h"

namespace tenon::onnx {

struct KeyMask {
  // Integers; null: none. [batch]: lengths; [2 * batch]: ends, then starts; [3 * batch + 2]:
  // lengths first; [batch, keys] and [batch, queries, keys]: positive where a key counts; [batch,
  // 1]: says nothing; [batch, 1, most, most]: a square of which the queries are the rows after the
  // past.
  Value mask = {};
  Dim batch, queries;
  Dim keys = 0, past = 0;
  Value past_length = {};  // i32[1], where how many came before is data; `past` says nothing then
  Value used = {};         // bool[keys]: the others are out of reach; null: all are used
  bool causal = false;
  double filter = -10000;  // added where a key does not count
};

// Broadcast to [batch, heads, queries, keys], with `bias` added where there is one; null where
// nothing is masked. What lies in a query's future is out of reach whatever the filter.
Value key_bias(Call& call, const KeyMask& m, Value bias, DType dtype);

}  // namespace tenon::onnx
