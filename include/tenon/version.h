/* The version of these headers, as semver.org says; CMakeLists.txt reads it here. For C and C++. */
#ifndef TENON_VERSION_H
#define TENON_VERSION_H

#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 1
#define TENON_VERSION_PATCH 0
#define TENON_VERSION_STRING "0.1.0"

/* #if TENON_VERSION >= TENON_MAKE_VERSION(0, 2, 0) */
#define TENON_MAKE_VERSION(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
#define TENON_VERSION \
  TENON_MAKE_VERSION(TENON_VERSION_MAJOR, TENON_VERSION_MINOR, TENON_VERSION_PATCH)

#endif
