// Receipts: what each kernel of a run computes, moves and takes, beside what this machine could do
// at best, measured on the same threads before and after. docs/receipts.md says how limits are
// measured, and what a floor is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

// A level of memory, as loops find it that only load, or load and store.
struct MemoryLimit {
  std::string name;     // "L1", "L2", "L3", "memory"
  int64_t bytes = 0;    // what it holds for all threads together; of memory 0
  double read_gbs = 0;  // 1e9 bytes a second
  double copy_gbs = 0;  // bytes that are read and those that are written, together
};

// What threads of this machine do at best, all of them together. A multiply-add is two operations.
struct MachineLimits {
  int threads = 1;
  double f32_gflops = 0;
  double bf16_gflops = 0, int8_gflops = 0;  // 0: the CPU has no dot products of these
  std::vector<MemoryLimit> memory;          // nearest first
};

// Takes about a second with slices of 20 ms; each limit is the best of three slices.
MachineLimits measure_machine_limits(int threads, double slice_ms = 20);

// What keeps a kernel from being faster than its floor.
enum class Bound : uint8_t { Compute, Cache, Memory };

// A kernel, and all its launches in a run: equal kernels of several layers are one.
struct KernelReceipt {
  std::string name;                  // what it does: "linear_gelu"
  std::vector<std::string> origins;  // for each launch in the order of a run, the ops it came from
  std::string arithmetic;            // what most of its operations are: "f32", "bf16", "int8"
  // Of all its launches in a run together:
  int launches = 0;
  double milliseconds = 0;  // the median over runs
  double share_of_run = 0;  // of what all kernels take
  double flops = 0;         // from the graph's shapes
  double bytes = 0;         // the least that must move
  double floor_ms = 0;      // what the machine would take at best
  Bound bound = Bound::Compute;
  std::string limit;  // "f32", "bf16", "int8", "L1", "L2", "L3", "memory"

  double gflops() const { return milliseconds > 0 ? flops / (milliseconds * 1e6) : 0; }
  double gbs() const { return milliseconds > 0 ? bytes / (milliseconds * 1e6) : 0; }
  double share_of_limit() const { return milliseconds > 0 ? floor_ms / milliseconds : 0; }
};

struct ReceiptOptions {
  double seconds = 1;    // of runs, at least five, as they are and step by step in turns
  double slice_ms = 20;  // of the probes; 1000 for a figure that decides something
};

struct RunReceipt {
  double milliseconds = 0;             // the median of runs as they are
  double kernels_ms = 0;               // of all kernels, step by step: what share_of_run is of
  double floor_ms = 0;                 // of all kernels
  std::vector<KernelReceipt> kernels;  // those that take longest first
  MachineLimits limits;                // of before and after, the better ones
  // Limits that some kernel is held against and that differed by over 3% before and after: "L3 read
  // 61.2 and 55.0 GB/s". Where there are any, other runs of the machine took part: measure again.
  std::vector<std::string> unsteady;

  double share_of_limit() const { return milliseconds > 0 ? floor_ms / milliseconds : 0; }
  // A line for everything below what is required: the run, and each kernel that takes a noticeable
  // part of it (of what is smaller, calling it is most of the time). Shares: 0.8 for 80%.
  std::vector<std::string> below(double of_run, double of_kernel = 0) const;
  static constexpr double kNoticeableShare = 0.02;

  std::string to_string() const;  // a table
  std::string to_json() const;
};

}  // namespace tenon
