// Requests of random sizes to an encoder, in a process that has run nothing yet and with an empty
// cache on disk: how much longer the first request of a size takes than it does when everything is
// warm. Each request comes when the one before has its result.
//
//   bench_stream [plain]     plain: without code for sizes that come often (specialization)
//
// First the stream, cold; then every size by itself, until it has what code it gets, and several
// times for the median of what it takes warm; then the stream again, warm. Every request has inputs
// of its own, and the second time must give the bits of the first.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon::bench {
namespace {

constexpr int kRequests = 500, kThreads = 2, kWarmRuns = 5;
constexpr int64_t kMostBatch = 8, kMostSeq = 256;
constexpr uint64_t kSeed = 20260917;

struct Size {
  int64_t batch, seq;
  auto operator<=>(const Size&) const = default;
};

// Rows are of different lengths; what is past them is masked.
struct Request {
  explicit Request(std::mt19937_64& random) {  // no distribution: those differ between libraries
    const auto up_to = [&](int64_t most) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1;
    };
    size = {.batch = up_to(kMostBatch), .seq = up_to(kMostSeq)};
    for (int64_t row = 0; row < size.batch; ++row) {
      const int64_t length = row == 0 ? size.seq : up_to(size.seq);
      for (int64_t i = 0; i < size.seq; ++i) {
        ids.push_back(i < length ? up_to(kVocabulary - 1) : 0);
        mask.push_back(i < length ? 1 : 0);
      }
    }
    types.resize(ids.size());
  }
  NamedInputs inputs() const {
    const std::vector<int64_t> shape = {size.batch, size.seq};
    return {{"input_ids", view(ids, shape)},
            {"attention_mask", view(mask, shape)},
            {"token_type_ids", view(types, shape)}};
  }
  static constexpr int64_t kVocabulary = make_encoder::EncoderOptions{}.vocab;
  Size size{};
  std::vector<int64_t> ids, mask, types;
};

std::vector<Request> make_requests() {
  std::mt19937_64 random(kSeed);
  std::vector<Request> requests;
  for (int i = 0; i < kRequests; ++i) requests.emplace_back(random);
  return requests;
}

// A folder that is gone afterwards: the model, and the cache that the process finds empty.
class Folder {
 public:
  Folder() {
    std::filesystem::create_directories(path_ / "cache");
    std::filesystem::permissions(path_ / "cache", std::filesystem::perms::owner_all);
    setenv("TENON_CACHE_DIR", (path_ / "cache").c_str(), 1);
    std::ofstream(model(), std::ios::binary) << make_encoder::encoder_model({});
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string model() const { return path_ / "encoder.onnx"; }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("tenon_bench_stream_{}", getpid());
};

Digest digest_of_output(const TensorView& output) {
  int64_t count = size_of(output.dtype);
  for (const int64_t extent : output.shape) count *= extent;
  const auto* bytes = static_cast<const std::byte*>(output.data);
  return Hasher().bytes({bytes, static_cast<size_t>(count)}).finish();
}

// One pass over all requests.
struct Pass {
  std::vector<double> times;  // seconds from the arrival to the result
  std::vector<Digest> results;
  double after_first() const {
    double sum = 0;
    for (size_t i = 1; i < times.size(); ++i) sum += times[i];
    return sum;
  }
};

template <typename Run>
Pass pass(const std::vector<Request>& requests, const Run& run) {
  Pass result;
  for (const Request& request : requests) {
    const NamedInputs inputs = request.inputs();
    const auto arrival = Clock::now();
    const TensorView& output = run(inputs);
    result.times.push_back(seconds_since(arrival));
    result.results.push_back(digest_of_output(output));
  }
  return result;
}

std::map<Size, double> warm_medians(const std::vector<Request>& requests, CompiledGraph& encoder) {
  std::map<Size, double> medians;
  for (const Request& request : requests) {
    if (medians.contains(request.size)) continue;
    const NamedInputs inputs = request.inputs();
    std::vector<double> times;
    for (int i = 0; i < Specialization{}.after; ++i) encoder.run_raw(inputs);
    encoder.wait_for_specialization();
    for (int i = 0; i < kWarmRuns; ++i) {
      const auto start = Clock::now();
      encoder.run_raw(inputs);
      times.push_back(seconds_since(start));
    }
    medians[request.size] = median(times);
  }
  return medians;
}

void check_results(const Pass& cold, const Pass& warm) {
  for (size_t i = 0; i < cold.results.size(); ++i) {
    if (cold.results[i] != warm.results[i])
      throw internal_error("request {} gave other bits when it came again", i);
  }
  const std::set<Digest> different(cold.results.begin(), cold.results.end());
  if (different.size() != cold.results.size())
    throw internal_error("only {} different results", different.size());
}

// How far requests after the first are up to what they may take, `times` a warm run and `more`.
bool report_requests(const char* name, const std::vector<Request>& requests, const Pass& cold,
                     const std::map<Size, double>& medians, double times, double more,
                     double share) {
  std::vector<std::pair<double, size_t>> of_limit;
  for (size_t i = 1; i < requests.size(); ++i)
    of_limit.emplace_back(cold.times[i] / (times * medians.at(requests[i].size) + more), i);
  std::ranges::sort(of_limit);
  const auto inside = static_cast<size_t>(share * static_cast<double>(of_limit.size()));
  const auto [value, at] = of_limit[std::min(inside, of_limit.size() - 1)];
  const auto [batch, seq] = requests[at].size;
  const double warm = medians.at(requests[at].size);
  return report(name, "of_limit", value, 1,
                fmt::format(", \"request\": {}, \"batch\": {}, \"seq\": {}, \"ms\": {:.2f}, "
                            "\"warm_ms\": {:.2f}, \"limit\": \"{} x warm + {} ms\"",
                            at, batch, seq, cold.times[at] * 1e3, warm * 1e3, times, more * 1e3));
}

bool run(std::span<char* const> names) {
  const bool plain = names.size() == 1 && names[0] == std::string_view("plain");
  if (!names.empty() && !plain) throw user_error("usage: bench_stream [plain]");
  const std::vector<Request> requests = make_requests();
  const Folder folder;
  fmt::print(stderr, "{} requests, cold\n", kRequests);
  const Specialization on, off{.most = 0};
  const CompileOptions options{.threads = kThreads, .specialize = plain ? off : on};
  std::optional<CompiledGraph> encoder;
  const Pass cold = pass(requests, [&](const NamedInputs& inputs) -> const TensorView& {
    if (!encoder) encoder = Session().compile_onnx(folder.model(), options);
    return encoder->run_raw(inputs)[0];
  });
  fmt::print(stderr, "{:.1f} s; each size, warm\n", cold.after_first());
  const std::map<Size, double> medians = warm_medians(requests, *encoder);
  fmt::print(stderr, "{} sizes; {} requests, warm\n", medians.size(), kRequests);
  const Pass warm = pass(requests, [&](const NamedInputs& inputs) -> const TensorView& {
    return encoder->run_raw(inputs)[0];
  });
  check_results(cold, warm);
  fmt::print(
      "{{\"bench\": \"stream: the first request, with the compile\", \"ms\": {:.1f}, \"seed\": {}, "
      "\"sizes\": {}, \"threads\": {}, \"specialized_sizes\": {}}}\n",
      cold.times[0] * 1e3, kSeed, medians.size(), encoder->threads(),
      encoder->specialization_stats().shapes);
  bool met = report_requests("stream: 99% of the requests after it", requests, cold, medians, 3,
                             0.002, 0.99);
  met &= report_requests("stream: the worst of them", requests, cold, medians, 5, 0.005, 1);
  met &= report("stream: all of them", "times_warm", cold.after_first() / warm.after_first(), 1.5,
                fmt::format(", \"seconds\": {:.2f}, \"warm_seconds\": {:.2f}", cold.after_first(),
                            warm.after_first()));
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_stream", tenon::bench::run, argc, argv);
}
