// The moments of a program, in order: waves of steps that may run at the same time (first those of
// the prologue, then those of a run) and host steps between them.
#pragma once

#include <span>
#include <vector>

#include "program/program.h"

namespace tenon::plan {

struct Access {
  program::BufferRef buffer;
  bool written;
};

struct Moment {
  std::span<const program::Step> steps;     // a wave
  const program::HostStep* host = nullptr;  // or this
  bool in_prologue = false;

  const std::string& origin() const { return host ? host->origin : steps.front().origin; }
  std::vector<Access> accesses() const;  // of all of them
};

// `program` must outlive it, and its steps must stay where they are.
std::vector<Moment> timeline(const program::Program& program);

std::vector<Access> accesses_of(const program::Step& step);

}  // namespace tenon::plan
