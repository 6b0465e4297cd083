// A tour of lazy tensors: NumPy-like code that writes a graph, compiled when its values are asked
// for; plans that are executed again and again, with variables, on several threads; files.
//
//   lazy FOLDER     leaves two files there
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>
#include <thread>

#include "tenon/tenon.h"

namespace {

using tenon::DType;
using tenon::Place;
using tenon::Slice;
using tenon::Tensor;

void expressions() {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = (x * 2.0 + 1.0).sum({1});
  std::cout << y << "\n";  // nothing is computed yet
  y.realize();
  std::cout << y << "\n";
  const Tensor centered = x - x.mean({1}, true);  // extents of 1 are broadcast
  std::cout << Tensor::where(centered < 0, 0, centered).realize() << "\n";
  std::cout << Tensor::einsum("ij,kj->ik", {x, x}).realize() << "\n";
  std::cout << Tensor::arange(100'000).reshape({100, 1000}).realize() << "\n";
}

void slices() {
  const Tensor x = Tensor::arange(12).reshape({3, 4});
  std::cout << x[-1].realize() << "\n";                                      // x[-1]
  std::cout << x.index({Place::All, Slice{.start = -2}}).realize() << "\n";  // x[:, -2:]
  std::cout << x.index({Place::Rest, Slice{.step = -2}}).realize() << "\n";  // x[..., ::-2]
  std::cout << x.index({Slice{1, 3}, Place::NewAxis, 0}).realize() << "\n";  // x[1:3, None, 0]
}

// A variable is an extent with bounds; its value is given when something is computed.
void plans() {
  std::vector<float> data(8);
  std::iota(data.begin(), data.end(), 1.0F);
  const Tensor x = Tensor::wrap(data.data(), DType::F32, {8});  // this memory, not a copy
  const tenon::Variable n("n", 1, 8);
  Tensor mean = x[Slice{.stop = n.bind(4)}].mean();
  tenon::ExecutionPlan plan = mean.prepare();  // compiled; from here on `mean` reads its output
  plan.execute();
  std::printf("the mean of 4 is %g", mean.item<float>());
  plan.execute_with_vars({{"n", 8}});
  std::printf(", of 8 %g", mean.item<float>());
  data[0] = 101;
  plan.execute();
  std::printf(", with a new value %g\n", mean.item<float>());

  tenon::ExecutionPlan other = plan.replicate();  // the same code and inputs, outputs of its own
  std::jthread([&] { other.execute_with_vars({{"n", 1}}); }).join();
  std::printf("a replica: %g, the plan: %g\n", other.output_buffer(0).item<float>(),
              mean.item<float>());
}

void threads() {
  const Tensor x = Tensor::randn({1000}, 7), shared = x.exp();
  const Tensor sum = shared.sum(), highest = shared.max();
  {
    const std::jthread one([&] { sum.realize(); }), two([&] { highest.realize(); });
  }
  std::printf("on threads: %s\n", sum.item<float>() > highest.item<float>() ? "done" : "wrong");
}

void files(const std::string& folder) {
  const std::string array = folder + "/lazy_tour.npy", weights = folder + "/lazy_tour.bin";
  Tensor::linspace(0, 1, 5).realize().save_npy(array);
  std::cout << Tensor::load_npy(array) << "\n";

  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  std::ofstream(weights, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), sizeof(float) * values.size());
  const Tensor file = Tensor::map_file(weights);  // nothing is read
  const Tensor matrix = file.view_bytes(DType::F32, {2, 2}, 16);
  std::printf("%s, of %s\n", (matrix.matmul(matrix)).realize().to_string().c_str(),
              file.type().to_string().c_str());
}

void refused() {
  const Tensor x = Tensor::zeros({2, 3});
  try {
    x.matmul(x);
  } catch (const tenon::Error& error) {
    std::printf("%s\n", error.what());
  }
}

}  // namespace

int main(int, char** argv) {
  expressions();
  slices();
  plans();
  threads();
  files(argv[1]);
  refused();
  return 0;
}
