// Sentence embeddings from a BERT-family ONNX model: one compile, then a request alone and the same
// request as a row of a padded batch. Embeddings are the mean over a row's tokens. The row gives
// the same bits both times, whatever stands in the rest of the batch.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "tenon/tenon.h"

namespace {

using Tokens = std::vector<int64_t>;
using Embedding = std::vector<double>;

// Rows of different lengths as the model's inputs: padded with 0, padding masked off.
struct Batch {
  std::vector<int64_t> shape;
  Tokens ids, mask, types;

  explicit Batch(const std::vector<Tokens>& rows) {
    size_t longest = 0;
    for (const Tokens& row : rows) longest = std::max(longest, row.size());
    shape = {static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)};
    for (const Tokens& row : rows) {
      for (size_t i = 0; i < longest; ++i) {
        ids.push_back(i < row.size() ? row[i] : 0);
        mask.push_back(i < row.size() ? 1 : 0);
      }
    }
    types.assign(ids.size(), 0);
  }
};

std::vector<Embedding> embed(tenon::CompiledGraph& encoder, const std::vector<Tokens>& rows) {
  const Batch batch(rows);
  tenon::NamedInputs inputs;
  for (const tenon::TensorInfo& input : encoder.inputs()) {  // some models have no token types
    const Tokens& data = input.name == "input_ids"        ? batch.ids
                         : input.name == "attention_mask" ? batch.mask
                                                          : batch.types;
    inputs[input.name] = tenon::view(data, batch.shape);
  }
  const std::vector<tenon::OwnedTensor> outputs = encoder.run_typed(inputs);
  const std::span<const float> hidden = outputs[0].as<float>();
  const auto width = static_cast<size_t>(outputs[0].shape[2]);
  const auto tokens = static_cast<size_t>(batch.shape[1]);
  std::vector<Embedding> embeddings;
  for (size_t row = 0; row < rows.size(); ++row) {
    Embedding mean(width);
    for (size_t i = 0; i < rows[row].size() * width; ++i) {
      mean[i % width] += hidden[row * tokens * width + i] / static_cast<double>(rows[row].size());
    }
    embeddings.push_back(std::move(mean));
  }
  return embeddings;
}

double norm(const Embedding& embedding) {
  double sum = 0;
  for (const double x : embedding) sum += x * x;
  return std::sqrt(sum);
}

void run(const std::string& model) {
  tenon::CompiledGraph encoder = tenon::Session().compile_onnx(model);
  std::printf("%d kernels compiled in %.0f ms\n", encoder.stats().kernels,
              encoder.stats().milliseconds);

  const Tokens request = {101, 7, 42, 13, 99, 102};
  const Embedding alone = embed(encoder, {request})[0];
  const Tokens longer(19, 55), shorter(3, 77);
  const std::vector<Embedding> batch = embed(encoder, {longer, request, shorter});

  std::printf("[1, 6]   norm %.6f\n", norm(alone));
  for (const Embedding& row : batch) std::printf("[3, 19]  norm %.6f\n", norm(row));
  std::printf("alone and in the batch: %s\n",
              alone == batch[1] ? "the same bits" : "different bits");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: encoder MODEL.onnx\n", stderr);
    return 2;
  }
  try {
    run(argv[1]);
    return 0;
  } catch (const std::exception& error) {  // a tenon::Error says whose fault it is: kind()
    std::fprintf(stderr, "encoder: %s\n", error.what());
    return 1;
  }
}
