// What options say about schedules that were tuned, or are to be.
#pragma once

#include <optional>

#include "cache/key.h"
#include "driver/options.h"
#include "graph/graph.h"
#include "tenon/compile_options.h"
#include "tune/tuner.h"

namespace tenon {

// `how`: what else the options mean to the driver. None: they say nothing about it. An Error where
// they contradict each other.
std::optional<tune::TunerOptions> tuning_of(const CompileOptions& options,
                                            const driver::Options& how);

// An Error where extents are given for what is no symbol of the graph.
void check_typical(const CompileOptions& options, const graph::Graph& graph);

// What it adds to the key of a compile: the contents of the file, what the search depends on.
void add_tuning(cache::KeyFields& key, const CompileOptions& options, const driver::Options& how);

}  // namespace tenon
