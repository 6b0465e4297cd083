// Code for given extents, which takes the place of a program's own where a run has exactly these:
// one table for all clones. Runs read a table that never changes; a new one takes its place when
// there is new code. Which extents are worth it is counted here; who makes their code is asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/device.h"
#include "runtime/run_counts.h"
#include "runtime/step_list.h"

namespace tenon::runtime {

class CodeVariants {
 public:
  struct Variant {
    std::vector<int64_t> values;             // of all variables
    std::shared_ptr<const LoadedCode> code;  // a kernel for each step of the program
    mutable std::atomic<uint64_t> used;      // the version of the table when it ran last
  };
  using Table = std::vector<std::shared_ptr<const Variant>>;

  CodeVariants(int after, int most) : after_(after), most_(most) {}
  virtual ~CodeVariants() = default;
  CodeVariants(const CodeVariants&) = delete;
  CodeVariants& operator=(const CodeVariants&) = delete;

  // Grows with each table: what was chosen from another may not be what would be chosen now.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const Table> table() const;
  // Takes the place of what was not used for longest, where there are as many as may be.
  void add(std::vector<int64_t> values, std::shared_ptr<const LoadedCode> code);

  // A run without a variant. At as many as are worth it, code for the values is asked for.
  void count_run(std::span<const int64_t> values, const StepList& steps) noexcept;

 protected:
  // From a run, which goes on at once. `steps` have been resolved at these values.
  virtual void ask(std::span<const int64_t> values, const StepList& steps) = 0;
  void count_anew(std::span<const int64_t> values);

 private:
  const int after_, most_;
  RunCounts counts_;
  std::atomic<uint64_t> version_ = 1;
  mutable std::mutex mutex_;  // of table_
  std::shared_ptr<const Table> table_ = std::make_shared<const Table>();
};

// What one executor takes of them.
class ChosenVariant {
 public:
  ChosenVariant() = default;
  explicit ChosenVariant(std::shared_ptr<CodeVariants> all) : all_(std::move(all)) {}

  const std::shared_ptr<CodeVariants>& all() const { return all_; }
  // Whether there is other code than when it was chosen last.
  bool is_stale() const { return all_ && version_ != all_->version(); }
  // The code for these values; null: the program's own.
  std::shared_ptr<const LoadedCode> choose(std::span<const int64_t> values);
  void note_run(std::span<const int64_t> values, const StepList& steps);

 private:
  std::shared_ptr<CodeVariants> all_;
  std::shared_ptr<const CodeVariants::Table> table_;
  const CodeVariants::Variant* chosen_ = nullptr;  // of table_
  uint64_t version_ = 0;                           // of table_
};

}  // namespace tenon::runtime
