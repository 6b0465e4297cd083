// Programs as the bytes of a file, and back. A file has the same model for one device or several:
//
//   64 bytes   ArtifactHeader: magic, version, the sizes of both parts, a digest
//   programs   a FlatBuffer (artifact.fbs): code, steps, buffers, constants; Dims as text; digests
//              of the weights
//   weights    the parameters' data, each 64-byte aligned, so that a mapped file is used in place;
//              or they are in a file beside it, after a WeightsHeader
//
// Reading trusts nothing: sizes, digests, offsets and then the Program itself (verify.h) are
// checked, and what is wrong is a User error that names the file. Weights are compared with their
// digests when they are read (checked_bytes.h). But an artifact contains machine code: as with any
// program, run only those whose origin you trust.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace tenon::program {

enum class WeightsPart : uint8_t { Inside, Beside };

// The bytes in pieces, so that weights need not be copied. What several programs have of one
// parameter is written once where it is the same.
class ArtifactBytes {
 public:
  // The programs must outlive it.
  explicit ArtifactBytes(std::span<const Program* const> programs,
                         WeightsPart weights = WeightsPart::Inside);
  explicit ArtifactBytes(const Program& program, WeightsPart weights = WeightsPart::Inside)
      : ArtifactBytes(std::vector<const Program*>{&program}, weights) {}
  ArtifactBytes(const ArtifactBytes&) = delete;
  ArtifactBytes& operator=(const ArtifactBytes&) = delete;

  std::span<const std::string_view> pieces() const { return pieces_; }
  // Of the file beside it; none where the weights are inside.
  std::span<const std::string_view> weight_pieces() const { return weight_pieces_; }
  std::string joined() const;  // pieces()

 private:
  std::string head_;          // header and programs
  std::string weights_head_;  // of the file beside
  std::vector<std::string_view> pieces_, weight_pieces_;
};

// A file in memory, which `owner` keeps there.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::string name;  // for messages
};

// What one of an artifact's programs is for.
struct Variant {
  DeviceKind device = DeviceKind::Cpu;
  CpuNeeds cpu;
  int cuda_arch = 0;
  bool operator==(const Variant&) const = default;
};
Variant variant_of(const Program& program);
std::string to_string(const Variant& variant);  // "cpu avx512", "cuda 9.0"

// An artifact's data of parameters, wherever they lie.
struct Weights {
  FileBytes file;
  std::vector<std::shared_ptr<const CheckedBytes>> items;
};

class Artifact {
 public:
  // Checks sizes, the digest and the structure.
  static Result<std::shared_ptr<const Artifact>> open(FileBytes file);

  const std::vector<Variant>& variants() const { return variants_; }
  bool has_weights_beside() const;
  uint64_t weight_bytes() const;
  // Of the artifact itself, or of `beside`, which is an error where it is not the file that was
  // written with it.
  Result<std::shared_ptr<const Weights>> weights(FileBytes beside = {}) const;
  // One of the variants. Unless `checked`, nobody will compare its weights with their digests.
  Result<std::shared_ptr<const Program>> program(size_t variant,
                                                 std::shared_ptr<const Weights> weights,
                                                 bool checked = true) const;

 private:
  Artifact() = default;
  void read_parts();
  std::shared_ptr<const Weights> read_weights(FileBytes file,
                                              std::span<const std::byte> bytes) const;

  FileBytes file_;
  std::vector<uint64_t> aligned_;  // a copy of the programs, where the file's are not aligned
  std::span<const uint8_t> part_;  // the FlatBuffer
  std::span<const std::byte> weights_inside_;
  std::vector<Variant> variants_;
};

struct ReadArtifact {
  std::string name;           // of the file, for messages
  bool check_weights = true;  // compare them with their digests, which reads all of them
};

// The only program of an artifact with its weights inside, or without any.
Result<std::shared_ptr<const Program>> read_artifact(std::span<const std::byte> bytes,
                                                     std::shared_ptr<const void> owner,
                                                     const ReadArtifact& options);

}  // namespace tenon::program
