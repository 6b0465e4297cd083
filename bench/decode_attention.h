// Attention of one token to a long cache: a run does little but read the cache.
#pragma once

namespace tenon::bench {

// Prints how fast it is beside a loop that only reads; whether the gate is met.
bool time_decode_attention();

}  // namespace tenon::bench
