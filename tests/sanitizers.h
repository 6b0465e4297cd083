// Which sanitizer this was built with: GCC defines macros, clang has features.
#pragma once

#if defined(__has_feature)
#define TENON_HAS_FEATURE(name) __has_feature(name)
#else
#define TENON_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || TENON_HAS_FEATURE(address_sanitizer)
#define TENON_ADDRESS_SANITIZER 1
#else
#define TENON_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || TENON_HAS_FEATURE(thread_sanitizer)
#define TENON_THREAD_SANITIZER 1
#else
#define TENON_THREAD_SANITIZER 0
#endif
