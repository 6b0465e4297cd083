// What every command does first: compile the model, saying so on stderr.
#pragma once

#include "tenon/tenon.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {

// threads 0: as many as this process may use; more than that is a User error.
CompiledGraph compile_model(const std::string& path, const std::string& precision, int threads);

}  // namespace tenon::cli
