// A contender of bench/peers as a process that stays: it reads lines, answers each with a line, and
// times its own runs, so that rounds of several contenders take turns without starting anything.
//
//   model PATH | threads N | set KEY VALUE      what to load, and how
//   input NAME TYPE 8x384 PATH                   f32 or i64, from a file of raw numbers
//   output NAME TYPE 8x384
//   load        -> {"version": "1.2", "load_ms": 3.5}
//   first       -> milliseconds of the first run
//   run N       -> median and least milliseconds of N runs, after one that is not timed
//   fill I PATH -> ok                            input I gets other numbers
//   save PATH   -> ok                            all outputs, one after the other
//   memory      -> KB of anonymous memory, KB of mapped files
//
// Nothing but the standard library: it is compiled against each contender's own headers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace contest {

// Memory of the same alignment for every contender, each tensor at another offset into its page.
class Tensor {
 public:
  Tensor(std::string name, std::string type, std::vector<int64_t> shape, size_t index)
      : name(std::move(name)), type(std::move(type)), shape(std::move(shape)) {
    const size_t skew = (index % 15 + 1) * 256;
    memory_.reset(::operator new(bytes() + skew, std::align_val_t{4096}));
    data_ = static_cast<char*>(memory_.get()) + skew;
    std::fill_n(data_, bytes(), 0);
  }

  size_t bytes() const {
    size_t count = type == "i64" ? 8 : 4;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    return count;
  }
  void* data() const { return data_; }

  void fill(const std::string& path) {
    if (!std::ifstream(path, std::ios::binary).read(data_, static_cast<std::streamsize>(bytes())))
      throw std::runtime_error("cannot read " + path);
  }

  std::string name, type;
  std::vector<int64_t> shape;

 private:
  struct Release {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{4096}); }
  };
  std::unique_ptr<void, Release> memory_;
  char* data_ = nullptr;
};

struct Job {
  std::string model;
  int threads = 1;
  std::map<std::string, std::string> settings;
  std::vector<Tensor> inputs, outputs;

  std::string setting(const std::string& key, const std::string& otherwise = "") const {
    const auto found = settings.find(key);
    return found == settings.end() ? otherwise : found->second;
  }
};

// A loaded model. It reads the job's inputs where they lie and writes its outputs in place.
class Contender {
 public:
  Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;
  virtual std::string version() const = 0;
  virtual void run() = 0;
};

using Load = std::unique_ptr<Contender> (*)(const Job& job);

class Worker {
 public:
  explicit Worker(Load load) : load_(load) {}

  // False: there is no such command.
  bool obey(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    for (const auto& [name, action] : kCommands) {
      if (command == name) return (this->*action)(words), true;
    }
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Words = std::istringstream;
  struct Command {
    const char* name;
    void (Worker::*action)(Words&);
  };
  static const std::vector<Command> kCommands;

  static double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }

  void model(Words& words) { words >> job_.model; }
  void threads(Words& words) { words >> job_.threads; }
  void set(Words& words) {
    std::string key;
    words >> key;
    words >> job_.settings[key];
  }

  Tensor tensor(Words& words) {
    std::string name, type, dims, extent;
    words >> name >> type >> dims;
    std::vector<int64_t> shape;
    for (std::istringstream extents(dims); std::getline(extents, extent, 'x');)
      shape.push_back(std::stoll(extent));
    return {name, type, shape, job_.inputs.size() + job_.outputs.size()};
  }
  void input(Words& words) {
    job_.inputs.push_back(tensor(words));
    std::string path;
    words >> path;
    job_.inputs.back().fill(path);
  }
  void output(Words& words) { job_.outputs.push_back(tensor(words)); }

  void load(Words&) {
    const auto begin = Clock::now();
    contender_ = load_(job_);
    std::printf("{\"version\": \"%s\", \"load_ms\": %.6f}\n", contender_->version().c_str(),
                milliseconds_since(begin));
  }

  void run(Words& words) {
    size_t count = 0;
    words >> count;
    contender_->run();
    std::vector<double> times;
    while (times.size() < count) {
      const auto begin = Clock::now();
      contender_->run();
      times.push_back(milliseconds_since(begin));
    }
    std::ranges::sort(times);
    std::printf("%.6f %.6f\n", times.at(times.size() / 2), times.front());
  }

  // The first run of all, timed.
  void first(Words&) {
    const auto begin = Clock::now();
    contender_->run();
    std::printf("%.6f\n", milliseconds_since(begin));
  }

  void fill(Words& words) {
    size_t index = 0;
    std::string path;
    words >> index >> path;
    job_.inputs.at(index).fill(path);
    std::puts("ok");
  }

  void save(Words& words) {
    std::string path;
    words >> path;
    std::ofstream file(path, std::ios::binary);
    for (const Tensor& output : job_.outputs)
      file.write(static_cast<const char*>(output.data()),
                 static_cast<std::streamsize>(output.bytes()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
    std::puts("ok");
  }

  void memory(Words&) {
    std::ifstream status("/proc/self/status");
    std::map<std::string, std::string> fields;
    for (std::string key, value; status >> key && std::getline(status, value);) fields[key] = value;
    std::printf("%ld %ld\n", std::stol(fields.at("RssAnon:")), std::stol(fields.at("RssFile:")));
  }

  Load load_;
  Job job_;
  std::unique_ptr<Contender> contender_;
};

inline const std::vector<Worker::Command> Worker::kCommands = {
    {"model", &Worker::model}, {"threads", &Worker::threads}, {"set", &Worker::set},
    {"input", &Worker::input}, {"output", &Worker::output},   {"load", &Worker::load},
    {"run", &Worker::run},     {"first", &Worker::first},     {"fill", &Worker::fill},
    {"save", &Worker::save},   {"memory", &Worker::memory}};

// main() of a contender: until stdin ends.
inline int serve(Load load) {
  try {
    Worker worker(load);
    for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
      if (!worker.obey(line)) throw std::runtime_error("no such command: " + line);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace contest
