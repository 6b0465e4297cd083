// Programs -> bytes. See artifact.h.
#include <fmt/format.h>

#include "program/artifact.h"
#include "program/artifact_header.h"
#include "program/write_program.h"

namespace tenon::program {
namespace {

constexpr char kZeros[kArtifactAlignment] = {};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Header>
std::string as_text(const Header& header) {
  return std::string(as_text(std::as_bytes(std::span(&header, 1))));
}

void add_pieces(const WeightList& weights, std::vector<std::string_view>& to) {
  for (const auto item : weights.items()) {
    to.push_back(as_text(item));
    const size_t padding = align_artifact(item.size()) - item.size();
    if (padding > 0) to.emplace_back(kZeros, padding);
  }
}

flatbuffers::Offset<file::Weights> write_weights(ArtifactTables& to,
                                                 std::span<const Digest> digests, bool beside) {
  std::vector<uint64_t> sizes;
  for (const auto item : to.weights.items()) sizes.push_back(item.size());
  std::vector<file::Digest> list;
  for (const Digest& digest : digests) list.emplace_back(flatbuffers::make_span(digest.bytes));
  return file::CreateWeights(
      to.builder, to.weights.bytes(), beside, to.builder.CreateVector(to.weights.offsets()),
      to.builder.CreateVector(sizes), to.builder.CreateVectorOfStructs(list));
}

}  // namespace

Variant variant_of(const Program& program) {
  return {program.device, program.cpu, program.cuda_arch};
}

std::string to_string(const Variant& variant) {
  std::string text(name_of(variant.device));
  if (variant.device == DeviceKind::Cuda)
    return fmt::format("{} {}.{}", text, variant.cuda_arch / 10, variant.cuda_arch % 10);
  if (variant.cpu.isa != CpuIsa::Generic) text += fmt::format(" {}", to_string(variant.cpu.isa));
  if (variant.cpu.bf16) text += "+bf16";
  if (variant.cpu.vnni) text += "+vnni";
  return text;
}

ArtifactBytes::ArtifactBytes(std::span<const Program* const> programs, WeightsPart where) {
  const bool beside = where == WeightsPart::Beside;
  ArtifactTables tables;
  std::vector<flatbuffers::Offset<file::Program>> written;
  for (const Program* program : programs) written.push_back(write_program(*program, tables));
  const std::vector<Digest> digests = chunk_digests(tables.weights.items(), 0);
  const auto weights = write_weights(tables, digests, beside);
  flatbuffers::FlatBufferBuilder& builder = tables.builder;
  const auto code = builder.CreateVector(tables.code);
  const auto list = builder.CreateVector(written);
  builder.Finish(file::CreateArtifact(builder, code, weights, list));

  std::string body(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  body.resize(align_artifact(body.size()));
  ArtifactHeader header;
  header.program_bytes = body.size();
  header.weight_bytes = beside ? 0 : tables.weights.bytes();
  header.digest = header.compute_digest(std::as_bytes(std::span(body))).bytes;
  head_ = as_text(header) + body;
  pieces_.push_back(head_);
  if (beside) {
    const WeightsHeader its{.weight_bytes = tables.weights.bytes(),
                            .digest = WeightsHeader::compute_digest(digests).bytes};
    weights_head_ = as_text(its);
    weight_pieces_.push_back(weights_head_);
  }
  add_pieces(tables.weights, beside ? weight_pieces_ : pieces_);
}

std::string ArtifactBytes::joined() const {
  std::string all;
  for (const std::string_view piece : pieces_) all += piece;
  return all;
}

}  // namespace tenon::program
