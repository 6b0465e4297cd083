// make_encoder: writes a random-weight BERT-like encoder as an ONNX file (MiniLM-L6's size unless
// told otherwise). The same options give the same bytes on every machine.
#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "tools/make_encoder/encoder_model.h"
#include "tools/make_encoder/onnx_writer.h"

namespace {

using namespace tenon::make_encoder;

constexpr const char* kUsage =
    "usage: make_encoder OUT.onnx [--layers 6] [--hidden 384] [--heads 12] [--ffn 1536]\n"
    "                    [--vocab 30522] [--maxpos 512] [--seed 0]\n"
    "                    [--form decomposed|opset17|fused] [--dtype f32|bf16]\n";

template <typename T>
bool parse_number(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool set_option(EncoderOptions& o, std::string_view name, std::string_view value) {
  if (name == "--form") {
    const auto form = parse_form(value);
    if (form) o.form = *form;
    return form.has_value();
  }
  if (name == "--dtype") {
    o.bf16 = value == "bf16";
    return o.bf16 || value == "f32";
  }
  if (name == "--seed") return parse_number(value, o.seed);
  const std::pair<std::string_view, int64_t*> sizes[] = {
      {"--layers", &o.layers}, {"--hidden", &o.hidden}, {"--heads", &o.heads},
      {"--ffn", &o.ffn},       {"--vocab", &o.vocab},   {"--maxpos", &o.maxpos}};
  for (auto [option, target] : sizes) {
    if (name == option) return parse_number(value, *target);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  EncoderOptions options;
  bool ok = argc >= 2 && argc % 2 == 0 && argv[1][0] != '-';
  for (int i = 2; ok && i + 1 < argc; i += 2) ok = set_option(options, argv[i], argv[i + 1]);
  if (!ok) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    write_file(argv[1], encoder_model(options));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "make_encoder: %s\n", problem.what());
    return 1;
  }
  return 0;
}
