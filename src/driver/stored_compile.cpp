// See stored_compile.h.
#include "driver/stored_compile.h"

#include "driver/compiled_generated.h"
#include "program/artifact.h"

namespace tenon::driver {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// Parameters of a body are those of the graph around it, by way of its inputs.
program::Program without_weights_of(const graph::Graph& source, program::Program program) {
  for (program::ParamSlot& slot : program.params) {
    const graph::Data* data = source.param_data(slot.name);
    if (!data || data->bytes.data() != slot.initial.data()) continue;  // made by the compiler
    slot.initial = {};
    slot.owner = nullptr;
  }
  return program;
}

void take_weights(const graph::Graph& source, program::Program& program) {
  for (program::ParamSlot& slot : program.params) {
    const graph::Data* data = source.param_data(slot.name);
    if (!data || !slot.initial.empty()) continue;
    slot.initial = data->bytes;
    slot.owner = data->owner;
  }
}

template <typename Items, typename Write>
auto list(FlatBufferBuilder& to, const Items& items, const Write& write) {
  std::vector<decltype(write(*items.begin()))> offsets;
  for (const auto& item : items) offsets.push_back(write(item));
  return to.CreateVector(offsets);
}

std::string text(const flatbuffers::String* from) { return from->str(); }

void read_reports(const file::Compiled& from, Compiled& to) {
  for (const file::FusionCount* row : *from.counts())
    to.fusion.counts.push_back({text(row->pattern()), row->found(), row->before()});
  for (const file::Missed* row : *from.missed())
    to.fusion.missed.push_back(
        {text(row->pattern()), text(row->origin()), text(row->reason()), text(row->hint())});
  for (const file::DispatchRow* row : *from.dispatch())
    to.dispatch.rows[text(row->op())] = {row->native(), row->common(), row->rewritten()};
  to.active.upper = from.upper();
  to.active.fallback = text(from.fallback());
  for (const file::BucketInput* row : *from.bucket_inputs())
    to.active.inputs.push_back({text(row->name()), {row->axes()->begin(), row->axes()->end()}});
}

}  // namespace

std::vector<std::byte> store_compiled(const Compiled& compiled, const graph::Graph& source) {
  const program::Program program = without_weights_of(source, compiled.program);
  const std::string artifact = program::ArtifactBytes(program).joined();
  FlatBufferBuilder to;
  const auto bytes =
      to.CreateVector(reinterpret_cast<const uint8_t*>(artifact.data()), artifact.size());
  const auto counts = list(to, compiled.fusion.counts, [&](const FusionReport::Count& row) {
    return file::CreateFusionCountDirect(to, row.pattern.c_str(), row.found, row.before);
  });
  const auto missed = list(to, compiled.fusion.missed, [&](const FusionReport::Missed& row) {
    return file::CreateMissedDirect(to, row.pattern.c_str(), row.origin.c_str(), row.reason.c_str(),
                                    row.hint.c_str());
  });
  const auto dispatch = list(to, compiled.dispatch.rows, [&](const auto& row) {
    const DispatchReport::Row& counted = row.second;
    return file::CreateDispatchRowDirect(to, row.first.c_str(), counted.native, counted.common,
                                         counted.rewritten);
  });
  const auto inputs = list(to, compiled.active.inputs, [&](const ActiveExtentReport::Input& row) {
    return file::CreateBucketInputDirect(to, row.name.c_str(), &row.axes);
  });
  const auto fallback = to.CreateString(compiled.active.fallback);
  to.Finish(file::CreateCompiled(to, bytes, compiled.kernels, counts, missed, dispatch,
                                 compiled.active.upper, inputs, fallback));
  const auto all = std::as_bytes(std::span(to.GetBufferPointer(), to.GetSize()));
  return {all.begin(), all.end()};
}

Result<Compiled> restore_compiled(std::span<const std::byte> bytes, const graph::Graph& source) {
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(begin, bytes.size());
  if (!file::VerifyCompiledBuffer(verifier)) return user_error("it is malformed");
  const file::Compiled& from = *file::GetCompiled(begin);
  // Weights of the compiler's own making are in the artifact: it stays.
  const auto artifact = std::make_shared<const std::vector<uint8_t>>(from.artifact()->begin(),
                                                                     from.artifact()->end());
  auto program = program::read_artifact(std::as_bytes(std::span(*artifact)), artifact,
                                        {.name = "cache entry"});
  if (!program) return program.error();
  Compiled compiled{.program = *program.value(), .kernels = from.kernels()};
  compiled.kernels_from_cache = compiled.kernels;
  compiled.restored = true;
  read_reports(from, compiled);
  take_weights(source, compiled.program);
  return compiled;
}

}  // namespace tenon::driver
