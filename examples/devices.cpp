// Devices: what this machine has, why what it has not cannot be used, and the one that computes
// nothing.
#include <cstdio>

#include "tenon/tenon.h"

int main() {
  using tenon::Device;
  for (const Device& device : tenon::known_devices()) {
    const std::string words = tenon::is_available(device)
                                  ? tenon::describe(device)
                                  : "not available: " + tenon::why_unavailable(device);
    std::printf("%s: %s\n", tenon::to_string(device).c_str(), words.c_str());
  }

  tenon::Graph g;
  const tenon::Value x = g.input("x", {{tenon::sym::batch(), 4}, tenon::DType::F32});
  g.set_outputs({{"y", g.exp(x)}});
  const std::vector<float> zeros(8, 0);
  for (const Device& device : {Device::Cpu(), Device::Null(), Device::Cuda(99)}) {
    try {
      tenon::CompiledGraph compiled = tenon::Session(device).compile(g);
      const std::vector<float> y = compiled.run({{"x", tenon::view(zeros, {2, 4})}})[0];
      std::printf("exp(0) on %s: %g\n", tenon::to_string(compiled.device()).c_str(), y[0]);
    } catch (const tenon::Error& error) {
      std::printf("%.38s...\n", error.what());
    }
  }
  return 0;
}
