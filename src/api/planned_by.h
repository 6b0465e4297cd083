// What a LirModule was planned by: the options that decide its plan or its numbers, as lines of its
// text. Others (threads, codegen, verbosity) are for whoever compiles it.
#pragma once

#include <string>
#include <string_view>

#include "driver/options.h"
#include "tenon/compile_options.h"

namespace tenon {

// The options with nothing left out that decides.
CompileOptions planned_by(const CompileOptions& options, const driver::Options& decided);

// What is asked for beside a module must be what it was planned by, else it is a User error.
void check_planned_by(const CompileOptions& planned, const CompileOptions& asked);

std::string print_planned_by(const CompileOptions& options);  // `  memory arena, alignment 64`

// What print_planned_by wrote, with all else from `given`. A User error where that says something
// else; `first_line` is the number of the text's first line, for messages.
CompileOptions read_planned_by(std::string_view text, int first_line, const CompileOptions& given);

}  // namespace tenon
