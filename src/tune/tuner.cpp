// See tuner.h.
#include "tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "codegen/generator.h"
#include "driver/target_key.h"

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

driver::Options without_choices(driver::Options how) {
  how.choose = nullptr;
  how.dump = nullptr;
  how.see_kernel = nullptr;
  return how;
}

// In this process.
Result<std::shared_ptr<const program::Code>> compile_here(const driver::Backend& backend,
                                                          const kernel::Kernel& scheduled) {
  try {
    return backend.generate(scheduled);
  } catch (const Error& error) {
    return error;
  }
}

TunedKernel row_of(const Record& record) {
  return {.name = record.name,
          .choice = to_string(record.choice),
          .default_ms = record.default_ms,
          .tuned_ms = record.tuned_ms,
          .found = true};
}

}  // namespace

int threads_of(int asked) {
  const int most = thread_pool().max_threads();
  return asked > 0 ? std::min(asked, most) : most;
}

std::string target_text(const driver::Options& how, int threads) {
  const CpuInfo& cpu = how.cpu;
  return fmt::format("{}{},l1d={},l2={},{},threads={}", to_string(cpu.isa), cpu.bf16 ? "+bf16" : "",
                     cpu.l1d, cpu.l2, codegen::find_generator(how.codegen).name, threads);
}

void use_tuner(driver::Options& how, TunerOptions options) {
  const auto tuner = std::make_shared<Tuner>(std::move(options), how);
  how.choose = [tuner](const driver::LoweredKernels& lowered) { return tuner->choose(lowered); };
}

Tuner::Tuner(TunerOptions options, const driver::Options& how)
    : options_(std::move(options)),
      how_(without_choices(how)),
      target_(target_text(how, threads_of(options_.threads))) {}

// Of several lines for a kernel the last one counts; those for other machines say nothing here.
void Tuner::read_file() {
  if (std::exchange(file_is_read_, true) || options_.tuned.empty()) return;
  for (Record& record : read_records(options_.tuned)) {
    if (record.target == target_) known_[record.kernel] = std::move(record);
  }
}

std::vector<schedule::Choice> Tuner::choose(const driver::LoweredKernels& lowered) {
  const auto begin = Clock::now();
  read_file();
  Extents extents;
  if (options_.width > 0) {
    extents = timed_extents(lowered, options_.config.typical).take();
    report_.extents = binding_of(lowered.program, extents);
  }
  std::vector<schedule::Choice> choices;
  Place place{0, static_cast<int>(lowered.kernels.size())};
  for (const kernel::Kernel& kernel : lowered.kernels) {
    ++place.kernel;
    const std::string digest = digest_of(kernel::canonical_text(kernel)).hex();
    auto known = known_.find(digest);
    if (known != known_.end()) {
      report_.kernels.push_back(row_of(known->second));
    } else if (options_.width > 0) {
      Record found = find_or_search(place, kernel, lowered.backend, extents);
      known = known_.emplace(digest, std::move(found)).first;
    } else {
      choices.emplace_back();
      continue;
    }
    choices.push_back(known->second.choice);
    records_.push_back(known->second);
    report_.schedules = print(records_);
  }
  report_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return choices;
}

Record Tuner::find_or_search(const Place& place, const kernel::Kernel& lowered,
                             const driver::Backend& backend, const Extents& extents) {
  Record record{.kernel = digest_of(kernel::canonical_text(lowered)).hex(),
                .target = target_,
                .extents = extents_of(lowered, extents),
                .name = lowered.name};
  const auto search = [&] { return search_anew(place, lowered, record, backend, extents); };
  if (!options_.store) return search();
  const cache::KeyFields key = key_of(record);
  std::optional<Record> made;
  const cache::Bytes entry = options_.store->get_or_make(key, [&] {
    made = search();
    const std::string line = print(*made);
    const auto bytes = std::as_bytes(std::span(line));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  });
  if (made) return *made;
  const std::string_view line(reinterpret_cast<const char*>(entry.data().data()),
                              entry.data().size());
  Result<Record> found = parse_record(line);
  if (!found || found.value().kernel != record.kernel) {
    options_.store->erase(key);
    return search();
  }
  report_.kernels.push_back(row_of(found.value()));
  return std::move(found.value());
}

Record Tuner::search_anew(const Place& place, const kernel::Kernel& lowered, Record record,
                          const driver::Backend& backend, const Extents& extents) {
  const auto progress = [&](int tried, double default_ms, double best_ms) {
    if (!options_.config.progress) return true;
    return options_.config.progress(
        {place.kernel, place.kernels, lowered.name, tried, default_ms, best_ms});
  };
  const CompileCandidate compile = compiler(backend);
  Found found;
  try {
    if (!progress(0, 0, 0)) found.stopped = true;
    if (!found.stopped)
      found = search(lowered, backend, extents,
                     {.width = options_.width,
                      .config = options_.config,
                      .threads = options_.threads,
                      .compile = compile,
                      .progress = progress});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::User) throw;
    log(LogLevel::Info, "[tune] {} is left as it is: {}", lowered.name, error.what());
  }
  if (found.stopped) {
    report_.stopped = true;
    throw user_error("[tune] stopped at kernel {} of {}: those before it are tuned", place.kernel,
                     place.kernels);
  }
  record.default_ms = found.default_ms;
  record.tuned_ms = found.tuned_ms;
  record.choice = std::move(found.choice);
  TunedKernel row = row_of(record);
  row.candidates = found.candidates;
  row.dropped = found.dropped;
  row.rounds = found.rounds;
  row.seconds = found.seconds;
  row.found = false;
  report_.kernels.push_back(std::move(row));
  return record;
}

cache::KeyFields Tuner::key_of(const Record& record) const {
  cache::KeyFields key;
  key.add("kind", "schedule").add("device", "cpu");
  driver::add_target(key, how_);
  return key.add("threads", fmt::to_string(threads_of(options_.threads)))
      .add("width", fmt::to_string(options_.width))
      .add("kernel", record.name)
      .add("extents", record.extents)
      .add("digest", record.kernel);
}

// An Error where there is no such helper: nothing could be compiled.
CompileCandidate Tuner::compiler(const driver::Backend& backend) {
  if (options_.config.helper.empty())
    return [&](const kernel::Kernel& scheduled) { return compile_here(backend, scheduled); };
  if (!helper_) {
    const std::string generator(codegen::find_generator(how_.codegen).name);
    helper_ = std::make_unique<CompileHelper>(
        std::vector<std::string>{options_.config.helper, "compile-kernels", "--codegen", generator,
                                 "--cpu", std::string(to_string(how_.cpu.isa))},
        options_.config.compile_timeout);
    helper_->start().throw_if_error();
  }
  return [&](const kernel::Kernel& scheduled) { return helper_->compile(scheduled); };
}

}  // namespace tenon::tune
