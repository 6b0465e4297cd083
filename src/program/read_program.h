// One Program of an artifact's FlatBuffer, which has passed the verifier of FlatBuffers.
#pragma once

#include <memory>

#include "program/artifact.h"
#include "program/artifact_generated.h"

namespace tenon::program {

// A User error where the Program is not sound, or takes more than `budget` bytes.
std::shared_ptr<const Program> read_program(const file::Artifact& from, size_t variant,
                                            std::shared_ptr<const Weights> weights, bool checked,
                                            size_t budget);

Variant read_variant(const file::Program& from);

}  // namespace tenon::program
