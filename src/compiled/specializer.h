// Has code made in the background for the extents that a graph and its clones run at most. The plan
// stays as it is (steps, memory, weights); only the machine code of steps is replaced, so that
// results have the same bits.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "runtime/code_variants.h"
#include "tenon/specialization.h"

namespace tenon::compiled {

// Of a kernel with these dims.
struct SpecialCode {
  std::shared_ptr<const program::Code> code;  // null: nothing is gained by another than it has
  bool compiled = false;                      // just now; else it was there
};
using MakeSpecialCode =
    std::function<SpecialCode(int kernel, std::span<const int64_t> dims)>;  // Program::code's

// Why no code for given extents is of use to the program; empty: it may be.
std::string why_not_special(const program::Program& program);

class Specializer final : public runtime::CodeVariants,
                          public std::enable_shared_from_this<Specializer> {
 public:
  // `own`: the program's code. Of a program that why_not_special has nothing against.
  Specializer(std::shared_ptr<const program::Program> program,
              std::shared_ptr<const runtime::LoadedCode> own, const Specialization& options,
              MakeSpecialCode make);

  SpecializationStats stats() const;
  void wait() const;  // until nothing is pending; the calling thread helps

 private:
  class Job;
  using Values = std::vector<int64_t>;

  void ask(std::span<const int64_t> values, const runtime::StepList& steps) override;
  void fail(const Values& values, const std::string& why);
  void end(const Values& values);  // of a job, however it went

  const std::shared_ptr<const program::Program> program_;
  const std::shared_ptr<const runtime::LoadedCode> own_;
  const Specialization options_;
  const MakeSpecialCode make_;
  mutable std::mutex mutex_;  // of all below
  std::set<Values> pending_, failed_;
  int kernels_ = 0;
  double milliseconds_ = 0;
  std::atomic<int> waiting_ = 0;  // pending_.size(), to wait for
};

}  // namespace tenon::compiled
