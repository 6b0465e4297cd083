// A small encoder behind the public API, and requests for it whose memory may be larger than what
// is in it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "base/cpu_info.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon::graph_test {

inline constexpr int64_t kVocab = 100, kHidden = 64, kPositions = 512;

inline CompiledGraph small_encoder(const CompileOptions& options = {}) {
  static std::atomic<int> count = 0;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("tenon_small_encoder_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  std::ofstream(path, std::ios::binary) << make_encoder::encoder_model({.layers = 2,
                                                                        .hidden = kHidden,
                                                                        .heads = 4,
                                                                        .ffn = 128,
                                                                        .vocab = kVocab,
                                                                        .maxpos = kPositions});
  CompiledGraph graph = Session().compile_onnx(path, options);
  std::filesystem::remove(path);  // mapped: the file may go
  return graph;
}

inline std::vector<const char*> cpus_here() {
  if (detect_cpu(std::nullopt).isa == CpuIsa::Avx512) return {"avx2", "avx512"};
  return {"avx2"};
}

// Tokens that do not count are the largest integers, so that using one shows.
class Request {
 public:
  Request(int64_t batch, int64_t seq, int64_t spare = 0)
      : batch_(batch), seq_(seq), row_(seq + spare) {
    const std::vector<int64_t> shape = {batch, seq}, capacity = {batch, row_};
    const auto tokens = static_cast<size_t>(std::max<int64_t>(batch * row_, 1));
    hidden_.assign(tokens * kHidden, -1);
    for (const char* name : {"input_ids", "attention_mask", "token_type_ids"}) {
      auto& data = data_.emplace_back(tokens, INT64_MAX);
      inputs[name] = {data.data(), dtype_of<int64_t>(), shape, capacity};
    }
    outputs["last_hidden_state"] = {
        hidden_.data(), dtype_of<float>(), {batch, seq, kHidden}, {batch, row_, kHidden}};
    for (int64_t row = 0; row < batch; ++row) {
      for (int64_t i = 0; i < seq; ++i) set(row, i, (row * 7 + i * 3) % kVocab, 1);
    }
  }
  Request(Request&&) = default;  // the vectors' memory, and so the views, stay where they are
  Request(const Request&) = delete;

  void set(int64_t row, int64_t token, int64_t id, int64_t mask) {
    const auto at = static_cast<size_t>(row * row_ + token);
    data_[0][at] = id;
    data_[1][at] = mask;
    data_[2][at] = 0;
  }
  std::vector<float> hidden_row(int64_t row, int64_t tokens) const {
    const auto begin = hidden_.begin() + row * row_ * kHidden;
    return {begin, begin + tokens * kHidden};
  }
  std::vector<float> hidden() const {
    std::vector<float> all;
    for (int64_t row = 0; row < batch_; ++row) {
      const std::vector<float> one = hidden_row(row, seq_);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  NamedInputs inputs;
  NamedOutputs outputs;

 private:
  int64_t batch_, seq_, row_;
  std::vector<std::vector<int64_t>> data_;
  std::vector<float> hidden_;
};

}  // namespace tenon::graph_test
