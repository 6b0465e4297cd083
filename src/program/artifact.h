// A Program as the bytes of a file, and back:
//
//   64 bytes   ArtifactHeader: magic, version, the sizes of both parts, a digest
//   program    a FlatBuffer (artifact.fbs): code, steps, buffers, constants; Dims as text
//   weights    the parameters' data, each 64-byte aligned, so that a mapped file is used in place
//
// Reading trusts nothing: sizes, digests, offsets and then the Program itself (verify.h) are
// checked, and what is wrong is a User error that names the file. But an artifact contains machine
// code: as with any program, run only those whose origin you trust.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace tenon::program {

// The bytes in pieces, so that weights need not be copied.
class ArtifactBytes {
 public:
  explicit ArtifactBytes(const Program& program);  // which must outlive it
  ArtifactBytes(const ArtifactBytes&) = delete;
  ArtifactBytes& operator=(const ArtifactBytes&) = delete;

  std::span<const std::string_view> pieces() const { return pieces_; }
  std::string joined() const;

 private:
  std::string head_;  // header and program
  std::vector<std::string_view> pieces_;
};

struct ReadArtifact {
  std::string name;           // of the file, for messages
  bool check_weights = true;  // compare their digest, which reads them all
};

// `owner` keeps `bytes` alive; the Program's weights point into them.
Result<std::shared_ptr<const Program>> read_artifact(std::span<const std::byte> bytes,
                                                     std::shared_ptr<const void> owner,
                                                     const ReadArtifact& options);

}  // namespace tenon::program
