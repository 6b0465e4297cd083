// Bytes -> Artifact -> Program. See artifact.h.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "program/artifact.h"
#include "program/artifact_generated.h"
#include "program/artifact_header.h"
#include "program/read_program.h"

namespace tenon::program {
namespace {

template <typename Make>
auto as_result(const std::string& name, Make make) -> Result<decltype(make())> {
  try {
    return make();
  } catch (const Error& error) {
    return user_error("[{}] the artifact cannot be used: {}", name, error.what());
  } catch (const std::bad_alloc&) {
    return user_error("[{}] the artifact cannot be used: there is no memory for it", name);
  }
}

void check_version(uint32_t version) {
  constexpr uint32_t kOurs = ArtifactHeader::kVersion;
  if (version == kOurs) return;
  throw user_error("it has version {} of the format, this is a reader of version {}: {}", version,
                   kOurs, version < kOurs ? "compile anew" : "a newer Tenon is needed");
}

ArtifactHeader read_header(std::span<const std::byte> bytes) {
  ArtifactHeader header;
  if (bytes.size() < sizeof(header)) throw user_error("it is no artifact: {} bytes", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != ArtifactHeader::kMagic) throw user_error("it is no artifact");
  check_version(header.version);
  const uint64_t rest = bytes.size() - sizeof(header);
  if (header.program_bytes > rest || header.weight_bytes != rest - header.program_bytes)
    throw user_error("it is cut: {} bytes are not what its header says", bytes.size());
  return header;
}

// Of a file beside an artifact: the bytes of the weights.
std::span<const std::byte> read_weights_header(const FileBytes& file, const Digest& digest) {
  WeightsHeader header;
  if (file.bytes.size() < sizeof(header))
    throw user_error("it has no weights: {} has {} bytes", file.name, file.bytes.size());
  std::memcpy(&header, file.bytes.data(), sizeof(header));
  if (header.magic != WeightsHeader::kMagic || header.zero != 0 || header.also_zero != 0)
    throw user_error("it has no weights: {} is no file of weights", file.name);
  check_version(header.version);
  if (header.digest != digest.bytes)
    throw user_error("{} has the weights of another artifact", file.name);
  const auto rest = file.bytes.subspan(sizeof(header));
  if (header.weight_bytes != rest.size())
    throw user_error("{} is cut: {} bytes are not what its header says", file.name,
                     file.bytes.size());
  return rest;
}

void verify_tables(std::span<const uint8_t> part) {
  if (part.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    throw user_error("its programs are too large: {} bytes", part.size());
  flatbuffers::Verifier::Options limits;
  limits.max_depth = 2 * kMostBodies + 8;  // a body is a table in the table of its step
  limits.max_tables = static_cast<flatbuffers::uoffset_t>(part.size() / sizeof(uint32_t));
  flatbuffers::Verifier verifier(part.data(), part.size(), limits);
  if (!file::VerifyArtifactBuffer(verifier)) throw user_error("its programs are malformed");
}

// The verifier lets vectors of 8-byte numbers begin at every fourth byte.
uint64_t element(const flatbuffers::Vector<uint64_t>& from, size_t i) {
  uint64_t value = 0;
  std::memcpy(&value, from.Data() + i * sizeof(value), sizeof(value));
  return flatbuffers::EndianScalar(value);
}

Digest to_digest(const file::Digest& from) {
  Digest digest;
  std::ranges::copy(*from.bytes(), digest.bytes.begin());
  return digest;
}

const file::Weights& weights_of(std::span<const uint8_t> part) {
  return *file::GetArtifact(part.data())->weights();
}

}  // namespace

Result<std::shared_ptr<const Artifact>> Artifact::open(FileBytes file) {
  const std::string name = file.name;
  return as_result(name, [&] {
    std::shared_ptr<Artifact> artifact(new Artifact);
    artifact->file_ = std::move(file);
    artifact->read_parts();
    return std::shared_ptr<const Artifact>(std::move(artifact));
  });
}

void Artifact::read_parts() {
  const ArtifactHeader header = read_header(file_.bytes);
  const auto part = file_.bytes.subspan(sizeof(header), header.program_bytes);
  if (header.compute_digest(part).bytes != header.digest)
    throw user_error("it is damaged: its digest is another");
  const auto* begin = reinterpret_cast<const uint8_t*>(part.data());
  if (reinterpret_cast<uintptr_t>(begin) % sizeof(uint64_t) != 0) {
    aligned_.resize((part.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    std::memcpy(aligned_.data(), part.data(), part.size());
    begin = reinterpret_cast<const uint8_t*>(aligned_.data());
  }
  part_ = {begin, part.size()};
  weights_inside_ = file_.bytes.subspan(sizeof(header) + part.size());
  verify_tables(part_);
  const file::Artifact& artifact = *file::GetArtifact(part_.data());
  for (const file::Program* program : *artifact.programs())
    variants_.push_back(read_variant(*program));
  if (variants_.empty()) throw user_error("it has no program");
  if (has_weights_beside() ? !weights_inside_.empty() : weights_inside_.size() != weight_bytes())
    throw user_error("its weights are not the {} bytes that they should be", weight_bytes());
}

bool Artifact::has_weights_beside() const { return weights_of(part_).beside(); }
uint64_t Artifact::weight_bytes() const { return weights_of(part_).bytes(); }

std::shared_ptr<const Weights> Artifact::read_weights(FileBytes file,
                                                      std::span<const std::byte> bytes) const {
  const file::Weights& table = weights_of(part_);
  auto weights = std::make_shared<Weights>();
  if (table.offsets()->size() != table.sizes()->size())
    throw user_error("its weights have {} offsets and {} sizes", table.offsets()->size(),
                     table.sizes()->size());
  flatbuffers::uoffset_t next = 0;  // of the digests
  for (flatbuffers::uoffset_t i = 0; i < table.offsets()->size(); ++i) {
    const uint64_t offset = element(*table.offsets(), i), size = element(*table.sizes(), i);
    if (offset > bytes.size() || size > bytes.size() - offset || offset % kArtifactAlignment != 0)
      throw user_error("weight {} lies outside of it", i);
    const size_t chunks = count_chunks(size);
    if (chunks > table.digests()->size() - next) throw user_error("weight {} has no digest", i);
    std::vector<Digest> digests;
    for (size_t chunk = 0; chunk < chunks; ++chunk)
      digests.push_back(to_digest(*table.digests()->Get(next++)));
    weights->items.push_back(std::make_shared<const CheckedBytes>(bytes.subspan(offset, size),
                                                                  std::move(digests), file.name));
  }
  weights->file = std::move(file);
  return weights;
}

Result<std::shared_ptr<const Weights>> Artifact::weights(FileBytes beside) const {
  return as_result(file_.name, [&] {
    if (!has_weights_beside()) return read_weights(file_, weights_inside_);
    std::vector<Digest> digests;
    for (const file::Digest* each : *weights_of(part_).digests())
      digests.push_back(to_digest(*each));
    const auto bytes = read_weights_header(beside, WeightsHeader::compute_digest(digests));
    if (bytes.size() != weight_bytes())
      throw user_error("{} has {} bytes of weights, {} are needed", beside.name, bytes.size(),
                       weight_bytes());
    return read_weights(std::move(beside), bytes);
  });
}

Result<std::shared_ptr<const Program>> Artifact::program(size_t variant,
                                                         std::shared_ptr<const Weights> weights,
                                                         bool checked) const {
  return as_result(file_.name, [&] {
    return read_program(*file::GetArtifact(part_.data()), variant, std::move(weights), checked,
                        part_.size() * kMostExpansion);
  });
}

Result<std::shared_ptr<const Program>> read_artifact(std::span<const std::byte> bytes,
                                                     std::shared_ptr<const void> owner,
                                                     const ReadArtifact& options) {
  const auto artifact = Artifact::open({bytes, std::move(owner), options.name});
  if (!artifact) return artifact.error();
  if (artifact.value()->variants().size() != 1)
    return user_error("[{}] the artifact has several programs", options.name);
  const auto weights = artifact.value()->weights({.name = options.name + ".weights"});
  if (!weights) return weights.error();
  if (options.check_weights) {
    std::vector<const CheckedBytes*> all;
    for (const auto& item : weights.value()->items) all.push_back(item.get());
    if (find_damaged(all, 1))
      return user_error("[{}] the artifact cannot be used: its weights are damaged", options.name);
  }
  return artifact.value()->program(0, weights.value(), options.check_weights);
}

}  // namespace tenon::program
