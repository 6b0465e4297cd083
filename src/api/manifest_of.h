// The manifest of a program, with code or without.
#pragma once

#include "program/program.h"
#include "tenon/binding_manifest.h"

namespace tenon {

BindingManifest manifest_of(const program::Program& program);

}  // namespace tenon
