// Any bytes as an artifact whose header is right about them, since a digest would stop nearly all:
// they give a Program that prints, or a User error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "program/artifact.h"
#include "program/artifact_header.h"
#include "program/print.h"
#include "tests/fuzz/run_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tenon::program::ArtifactHeader;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= sizeof(ArtifactHeader)) {
    ArtifactHeader header;
    std::memcpy(&header.weight_bytes, data + offsetof(ArtifactHeader, weight_bytes), 8);
    const uint64_t rest = size - sizeof(header);
    header.weight_bytes = std::min(header.weight_bytes, rest);
    header.program_bytes = rest - header.weight_bytes;
    const auto all = std::as_bytes(std::span(bytes)).subspan(sizeof(header));
    header.digest = header.compute_digest(all.first(header.program_bytes)).bytes;
    std::memcpy(bytes.data(), &header, sizeof(header));
  }
  tenon::fuzz::expect_no_internal_error([&] {
    auto program = tenon::program::read_artifact(std::as_bytes(std::span(bytes)), nullptr,
                                                 {.name = "fuzz", .check_weights = false});
    tenon::program::print(*program.take());
  });
  return 0;
}
