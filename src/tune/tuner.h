// Tuner: the schedules of a plan's kernels (driver::Options::choose). One that was found before, in
// a file or in the store, is taken; the others are searched for, where that is asked for. Each goes
// into the store as soon as it is found, so a search that was stopped goes on where it was.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/disk_store.h"
#include "driver/options.h"
#include "tenon/tuning.h"
#include "tune/compile_helper.h"
#include "tune/record.h"
#include "tune/search.h"

namespace tenon::tune {

struct TunerOptions {
  int width = 0;  // of the beam; 0: nothing is searched
  BeamConfig config;
  int threads = 0;                    // 0: as many as this process may use
  std::string tuned;                  // a file of records; empty: none
  cache::DiskStore* store = nullptr;  // null: nothing is kept
};

class Tuner {
 public:
  // `how`: the options of the compile that asks.
  Tuner(TunerOptions options, const driver::Options& how);

  // Throws User where the file cannot be read, or where the search was stopped.
  std::vector<schedule::Choice> choose(const driver::LoweredKernels& lowered);
  // Of all that it chose.
  const TuningReport& report() const { return report_; }

 private:
  struct Place {
    int kernel, kernels;  // from 1
  };

  void read_file();
  Record find_or_search(const Place& place, const kernel::Kernel& lowered,
                        const driver::Backend& backend, const Extents& extents);
  Record search_anew(const Place& place, const kernel::Kernel& lowered, Record record,
                     const driver::Backend& backend, const Extents& extents);
  cache::KeyFields key_of(const Record& record) const;
  CompileCandidate compiler(const driver::Backend& backend);

  const TunerOptions options_;
  const driver::Options how_;  // but for what it chooses
  const std::string target_;
  std::map<std::string, Record> known_;  // by kernel, all of this target
  bool file_is_read_ = false;
  std::unique_ptr<CompileHelper> helper_;
  TuningReport report_;
  std::vector<Record> records_;  // in the report
};

// Has the schedules of compiles by these options chosen by a tuner.
void use_tuner(driver::Options& how, TunerOptions options);

// Of which machine and compiler a schedule is a good one: no word of it has a space.
std::string target_text(const driver::Options& how, int threads);
// 0: as many as this process may use.
int threads_of(int asked);

}  // namespace tenon::tune
