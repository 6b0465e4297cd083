// A ResNet block as lazy tensors: convolutions, batch norms, relu, a skip by a convolution of 1 x 1
// where the block halves the image, and the pooling that such a net ends with.
#include "lazy_weights.h"

namespace {

using examples::weights;
using tenon::Tensor;

struct ConvNorm {
  ConvNorm(int64_t in, int64_t out, int64_t kernel, int64_t step, int64_t seed)
      : weight(weights({out, in, kernel, kernel}, seed)),
        mean(weights({out}, seed + 1)),
        variance(weights({out}, seed + 2) + 1),
        scale(weights({out}, seed + 3) + 1),
        bias(weights({out}, seed + 4)),
        options{.stride = {step}, .padding = {kernel / 2}} {}

  Tensor operator()(const Tensor& x) const {
    return x.conv(weight, {}, options).batch_norm(mean, variance, scale, bias);
  }

  Tensor weight, mean, variance, scale, bias;
  tenon::WindowOptions options;
};

struct Block {
  Block(int64_t in, int64_t out, int64_t step, int64_t seed)
      : first(in, out, 3, step, seed),
        second(out, out, 3, 1, seed + 10),
        skip(in, out, 1, step, seed + 20) {}

  Tensor operator()(const Tensor& x) const { return (second(first(x).relu()) + skip(x)).relu(); }

  ConvNorm first, second, skip;
};

}  // namespace

int main(int, char** argv) {
  const std::string data = argv[1];
  const Tensor images = weights({2, 3, 8, 8}, 100, 4);
  const Tensor pooled = images.max_pool({3}, {.stride = {1}, .padding = {1}});
  const Tensor features = Block(3, 4, 2, 1)(pooled);
  const Tensor means = features.avg_pool({4}).flatten(1);
  tenon::realize_batch({features, means});  // what they share is computed once
  return examples::compare("features", features, data + "/lazy_resnet.npy") +
         examples::compare("means", means, data + "/lazy_resnet_means.npy");
}
