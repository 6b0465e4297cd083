// The call of a kernel. Generated code has no signature in front of it, which clang's sanitizer of
// calls through pointers would read: it is switched off here and nowhere else.
#pragma once

#include "program/program.h"

namespace tenon::runtime::cpu {

#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
inline void
call_kernel(program::KernelFunction function, void* const* buffers, const int64_t* dims,
            void* scratch, int64_t begin, int64_t end, int64_t* fault) {
  function(buffers, dims, scratch, begin, end, fault);
}

}  // namespace tenon::runtime::cpu
