// See specializer.h.
#include "compiled/specializer.h"

#include <algorithm>
#include <utility>

#include "base/background_worker.h"
#include "base/error.h"
#include "base/log.h"
#include "runtime/cpu/kernel_functions.h"

namespace tenon::compiled {

std::string why_not_special(const program::Program& program) {
  if (program.device != program::DeviceKind::Cpu) return "the program is not for the CPU";
  if (!program.host_steps.empty())
    return "extents are known only while it runs: there are branches, loops, or shapes that are "
           "data";
  for (const program::IoSlot& input : program.inputs) {
    if (input.state) return "it has states, whose extents change with every run";
  }
  const auto has_dims = [](const program::Step& step) { return !step.dims.empty(); };
  if (std::ranges::none_of(program.steps, has_dims)) return "its extents are numbers already";
  return {};
}

// The code for one set of extents, a kernel a piece. The graph may go at any time: a job keeps
// nothing of it alive but while it does a piece.
class Specializer::Job {
 public:
  Job(std::shared_ptr<Specializer> of, std::span<const int64_t> values,
      const runtime::StepList& steps);
  ~Job() {
    if (const auto specializer = of_.lock()) specializer->end(values_);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool piece();  // whether there are more

 private:
  struct Kernel {
    int kernel;  // Program::code's
    std::vector<int64_t> dims;
    bool operator==(const Kernel&) const = default;
  };

  void make(Specializer& specializer, const Kernel& kernel);
  void publish(Specializer& specializer);

  const std::weak_ptr<Specializer> of_;
  const Values values_;
  std::vector<Kernel> kernels_;                             // different ones
  std::vector<int> of_step_;                                // in kernels_
  std::vector<std::shared_ptr<const program::Code>> made_;  // in their order; null: its own will do
};

Specializer::Job::Job(std::shared_ptr<Specializer> of, std::span<const int64_t> values,
                      const runtime::StepList& steps)
    : of_(of), values_(values.begin(), values.end()) {
  for (int i = 0; i < steps.size(); ++i) {
    const auto dims = steps.dims(i);
    const Kernel kernel{steps.step(i).code, {dims.begin(), dims.end()}};
    const auto known = std::ranges::find(kernels_, kernel);
    of_step_.push_back(static_cast<int>(known - kernels_.begin()));
    if (known == kernels_.end()) kernels_.push_back(kernel);
  }
}

bool Specializer::Job::piece() {
  const auto specializer = of_.lock();
  if (!specializer) return false;
  const auto begin = thread_cpu_time();
  bool more = true;
  try {
    if (made_.size() < kernels_.size()) make(*specializer, kernels_[made_.size()]);
    more = made_.size() < kernels_.size();
    if (!more) publish(*specializer);
  } catch (const std::exception& error) {
    specializer->fail(values_, error.what());
    more = false;
  }
  const std::chrono::duration<double, std::milli> spent = thread_cpu_time() - begin;
  const std::lock_guard lock(specializer->mutex_);
  specializer->milliseconds_ += spent.count();
  return more;
}

void Specializer::Job::make(Specializer& specializer, const Kernel& kernel) {
  SpecialCode special = specializer.make_(kernel.kernel, kernel.dims);
  made_.push_back(std::move(special.code));
  const std::lock_guard lock(specializer.mutex_);
  specializer.kernels_ += special.compiled ? 1 : 0;
}

void Specializer::Job::publish(Specializer& specializer) {
  std::vector<std::shared_ptr<const program::Code>> code;
  std::vector<int> place(made_.size(), -1);
  for (size_t i = 0; i < made_.size(); ++i) {
    if (!made_[i]) continue;
    place[i] = static_cast<int>(code.size());
    code.push_back(made_[i]);
  }
  for (int& step : of_step_) step = place[static_cast<size_t>(step)];
  specializer.add(values_, runtime::cpu::KernelFunctions::map_steps(
                               *specializer.program_, specializer.own_, code, of_step_)
                               .take());
}

Specializer::Specializer(std::shared_ptr<const program::Program> program,
                         std::shared_ptr<const runtime::LoadedCode> own,
                         const Specialization& options, MakeSpecialCode make)
    : CodeVariants(options.after, options.most),
      program_(std::move(program)),
      own_(std::move(own)),
      options_(options),
      make_(std::move(make)) {}

// Where more fail than there may be, something is wrong with all of them.
void Specializer::ask(std::span<const int64_t> values, const runtime::StepList& steps) {
  const auto most = static_cast<size_t>(options_.most);
  Values key(values.begin(), values.end());
  {
    const std::lock_guard lock(mutex_);
    if (failed_.contains(key) || failed_.size() >= most) return;
    if (pending_.size() >= most) return count_anew(values);
    if (!pending_.insert(std::move(key)).second) return;
    ++waiting_;
  }
  try {
    auto job = std::make_shared<Job>(shared_from_this(), values, steps);
    run_in_background({[job] { return job->piece(); }, options_.cpu_share});
  } catch (...) {
    end({values.begin(), values.end()});
    throw;
  }
}

void Specializer::fail(const Values& values, const std::string& why) {
  log(LogLevel::Warning, "[specialize] {}", why);
  const std::lock_guard lock(mutex_);
  failed_.insert(values);
}

void Specializer::end(const Values& values) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_.erase(values) == 0) return;
  }
  --waiting_;
  waiting_.notify_all();
}

SpecializationStats Specializer::stats() const {
  const std::lock_guard lock(mutex_);
  return {.shapes = static_cast<int>(table()->size()),
          .pending = static_cast<int>(pending_.size()),
          .failed = static_cast<int>(failed_.size()),
          .kernels = kernels_,
          .milliseconds = milliseconds_,
          .off = {}};
}

void Specializer::wait() const {
  for (int left = waiting_; left > 0; left = waiting_) {
    if (!help_background()) waiting_.wait(left);
  }
}

}  // namespace tenon::compiled
