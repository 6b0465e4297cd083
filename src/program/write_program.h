// A Program as a table of an artifact's FlatBuffer.
#pragma once

#include <map>
#include <vector>

#include "program/artifact_generated.h"
#include "program/program.h"
#include "program/weight_list.h"

namespace tenon::program {

// What programs and their bodies have in common.
struct ArtifactTables {
  flatbuffers::FlatBufferBuilder builder;
  WeightList weights;
  std::map<const Code*, uint32_t> code_numbers;
  std::vector<flatbuffers::Offset<file::Code>> code;
};

flatbuffers::Offset<file::Program> write_program(const Program& program, ArtifactTables& to);

}  // namespace tenon::program
