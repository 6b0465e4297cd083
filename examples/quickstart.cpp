// Compiles a BERT-family encoder once and runs it at two shapes.
#include <cstdio>

#include "tenon/tenon.h"

int main(int, char** argv) {
  tenon::CompiledGraph encoder = tenon::Session().compile_onnx(argv[1]);
  for (const int64_t tokens : {5, 32}) {  // the shape is the inputs'; nothing is compiled again
    const std::vector<int64_t> ids(tokens, 101), ones(tokens, 1), zeros(tokens, 0);
    const auto outputs = encoder.run_typed({{"input_ids", tenon::view(ids, {1, tokens})},
                                            {"attention_mask", tenon::view(ones, {1, tokens})},
                                            {"token_type_ids", tenon::view(zeros, {1, tokens})}});
    const std::span<const float> hidden = outputs[0].as<float>();
    std::printf("%lld tokens -> %s: %zu floats\n", static_cast<long long>(tokens),
                outputs[0].name.c_str(), hidden.size());
  }
}
