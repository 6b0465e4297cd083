// What every command does first: compile the model, or load one that `tenon compile` wrote, saying
// so on stderr.
#pragma once

#include "tenon/tenon.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {

// threads 0: as many as this process may use. disk_cache: read what was compiled before, keep what
// is compiled now.
CompiledGraph compile_model(const ModelOptions& options, int threads, bool disk_cache = false);

// What the command line says, or a UsageError.
CompileOptions compile_options(const ModelOptions& options);

// Whether the file is one that `tenon compile` wrote, by how it begins.
bool is_artifact(const std::string& path);

// What the command line says, or a UsageError.
CompileOptions compile_options(const ModelOptions& options);

// What --device says, or a UsageError. Nothing: the CPU.
Device parse_device(const std::string& name);

// A name that --codegen may have, or a UsageError.
void check_codegen(const std::string& name);
// Likewise, and an error where the device is not one that it generates code for.
void check_codegen(const std::string& name, const Device& device);

// What --optimizer says, or a UsageError; absent where it says nothing.
std::optional<OptStrategy> parse_optimizer(const std::string& name);

// How many there will be: where the process may not use that many, all that it may, and stderr
// says so.
int use_threads(CompiledGraph& graph, int threads);

}  // namespace tenon::cli
