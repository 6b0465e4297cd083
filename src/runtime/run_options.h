// What one run is given besides its inputs and outputs.
#pragma once

#include <cstdint>
#include <stop_token>

namespace tenon::runtime {

class StepObserver;

struct RunOptions {
  std::stop_token stop;              // looked at between pieces of work
  int64_t memory_limit = 0;          // bytes of arena, scratch and what bodies give; 0: none
  int64_t memory_around = 0;         // of the limit, in use around a body
  StepObserver* observer = nullptr;  // is told of each step, on devices that can say; null: nobody
};

}  // namespace tenon::runtime
