// Tensors on a GPU, where there is one: results as on the CPU, plans that mix devices.
#include <gtest/gtest.h>

#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

class CudaTensors : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_available(Device::Cuda())) GTEST_SKIP() << why_unavailable(Device::Cuda());
  }
  static Floats read(const Tensor& tensor) {
    const OwnedTensor owned = tensor.to_owned();
    return {owned.as<float>().begin(), owned.as<float>().end()};
  }
};

TEST_F(CudaTensors, StayOnTheDeviceBetweenComputations) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {2, 2}).to(Device::Cuda());
  const Tensor y = x.matmul(x);
  EXPECT_EQ(y.device(), Device::Cuda());
  y.realize();
  EXPECT_EQ(read(y), (Floats{7, 10, 15, 22}));
  EXPECT_EQ(user_error_of([&] { y.as_vec<float>(); }),
            "[as_vec] the tensor is on cuda:0: copy it with to(Device::Cpu())");
  EXPECT_EQ(read((y + 1.0).realize()), (Floats{8, 11, 16, 23}));
  EXPECT_EQ(y.to(Device::Cpu()).realize().as_vec<float>(), (Floats{7, 10, 15, 22}));
}

TEST_F(CudaTensors, OneHostPlanMixesDevices) {
  Floats data = {1, 2};
  const Tensor here = Tensor::wrap(data.data(), DType::F32, {2});
  const Tensor there = (here * 10.0).to(Device::Cuda());
  Tensor sum = (there + here).to(Device::Cpu()) - 1.0;
  ExecutionPlan plan = sum.prepare();
  EXPECT_EQ(plan.stats().copies, 3);
  plan.execute();
  EXPECT_EQ(sum.as_vec<float>(), (Floats{10, 21}));
  data = {3, 4};
  plan.execute();
  EXPECT_EQ(sum.as_vec<float>(), (Floats{32, 43}));
}

TEST_F(CudaTensors, TakeVariables) {
  const Variable n("n", 1, 1000);
  const Tensor x = Tensor::arange(Extent(1000)).cast(DType::F32).realize().to(Device::Cuda());
  Tensor sum = x.shrink({{0, n.bind(10)}}).sum().to(Device::Cpu());
  ExecutionPlan plan = sum.prepare();
  plan.execute();
  EXPECT_EQ(sum.item<float>(), 45);
  plan.execute_with_vars({{"n", 1000}});
  EXPECT_EQ(sum.item<float>(), 499500);
}

}  // namespace
}  // namespace tenon
