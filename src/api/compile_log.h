// TENON_LOG=info: a line for each compile.
#pragma once

#include <string>

#include "program/program.h"
#include "tenon/compiled_graph.h"

namespace tenon {

// What was compiled, how long it took from the call to a graph that can run, which kernels were
// new, and what the plan of its memory saved.
void log_compiled(const std::string& name, const program::Program& program,
                  const CompileStats& stats);

}  // namespace tenon
