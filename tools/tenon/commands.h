// The commands of the `tenon` program: what each was asked for, and the function that does it.
// main.cpp fills these from the command line; errors are thrown and reported there.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/error.h"

namespace tenon::cli {

// A command line that makes no sense, whatever the model: exit code 2.
class UsageError : public Error {
 public:
  template <typename... Args>
  explicit UsageError(fmt::format_string<Args...> format, Args&&... args)
      : Error(ErrorKind::User, fmt::format(format, std::forward<Args>(args)...)) {}
};

struct ModelOptions {
  std::string model;
  std::vector<std::string> inputs;  // NAME=FILE.npy or NAME=SHAPE:FILL
  std::vector<std::string> dims;    // NAME=EXTENT[,EXTENT...]
  std::string precision = "f32";
  std::string optimizer;  // of schedules; empty: TENON_OPTIMIZER, or analytic
  std::string tuned;      // schedules that `tenon tune` found, a file; empty: none
  std::string codegen;    // what generates machine code; empty: TENON_CODEGEN, or llvm
  std::string device;     // empty: cpu, or what an artifact was compiled for
  std::string cpu;        // caps the instruction set; empty: what the machine has
};

struct RunOptions : ModelOptions {
  bool no_cache = false;  // compile, and keep nothing on disk
  int threads = 0;
  std::string output;        // a folder; empty: print instead
  int64_t memory_limit = 0;  // bytes; 0: none
};

struct CompileCommand : ModelOptions {
  std::string output;
  std::string cpus;        // ISA[,ISA...]; empty: what the machine has
  std::string cuda_archs;  // of GPUs, which need not be there: ARCH[,ARCH...]
  std::string weights = "inside";
};

struct TuneCommand : ModelOptions {
  int width = 4;
  double timeout = 60;  // seconds, of a kernel
  int threads = 0;
  std::string output;  // a file; empty: none
};

// What a process that compiles candidates for another one is told.
struct CompileKernelsCommand {
  std::string codegen, cpu;
};

struct BenchOptions : ModelOptions {
  std::string threads;   // COUNT[,COUNT...]; empty: all
  int runs = 0;          // 0: as many as `seconds` allow
  double seconds = 1;    // per configuration
  double probe_ms = 20;  // length of a slice of the probes
  bool json = false;
  bool receipts = false;
  double require = 0, require_kernel = 0;  // percent of what the machine does at best; 0: nothing
  bool wants_receipts() const { return receipts || require > 0 || require_kernel > 0; }
};

struct ShowOptions {
  std::string model;
  std::string stage = "graph";
  std::string codegen;
  std::string optimizer;
  std::string tuned;
  std::string device = "cpu";
  int cuda_arch = 90;  // of a GPU, which need not be there
};

struct BucketsOptions {
  std::string shapes;    // a file: lines of EXTENT [REQUESTS]
  int count = 0;         // of buckets, at most
  double quadratic = 0;  // the work at extent u is u + quadratic * u * u
};

struct CacheOptions : ModelOptions {
  std::string action;  // ls, why, verify, clear
  std::string folder;  // empty: that of TENON_CACHE_DIR
  bool remove = false;
};

struct OnnxTestOptions {
  bool symbolic = false;
  double least_symbolic = 0;  // percent of the cases
  std::vector<std::string> folders;
  std::string device = "interpreter";
  std::string codegen;
  std::string skip;    // a file; empty: nothing is skipped
  std::string sample;  // N/M; empty: all cases
  bool verbose = false;
};

struct ReplayOptions {
  std::string file;  // of tools/replay/case.h
  std::string device = "cpu";
};

struct DemoOptions {
  int threads = 0;
};

void compile(const CompileCommand& options);
void run(const RunOptions& options);
int bench(const BenchOptions& options);  // the exit code: 1 where less is reached than required
int tune(const TuneCommand& options);    // the exit code: 1 where it was interrupted
void compile_kernels(const CompileKernelsCommand& options);
void show(const ShowOptions& options);
void show_artifact(const ShowOptions& options);  // of a file that compile wrote
void demo(const DemoOptions& options);
void devices();
void buckets(const BucketsOptions& options);
int cache(const CacheOptions& options);         // the exit code: 1 where entries are damaged
int onnx_test(const OnnxTestOptions& options);  // the exit code: 1 where a case failed
int replay(const ReplayOptions& options);  // the exit code: 1 where device and interpreter differ

}  // namespace tenon::cli
