// The devices that the suite runs on, and what each of them declares not to have. What is declared
// is checked: asked for it, the device must say Unsupported, so that no entry outlives its reason.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tenon/tenon.h"
#include "tests/error_of.h"

namespace tenon::device_test {

enum class Lacks : uint8_t {
  Numbers,      // outputs are as long as they should be, and that is all; data has no faults
  DataExtents,  // extents that only a run knows
  ControlFlow,  // branches and loops
};

struct Subject {
  const char* name;
  CompileOptions options;
  std::set<Lacks> lacks;
};
inline std::ostream& operator<<(std::ostream& out, const Subject& subject) {
  return out << subject.name;
}

inline const std::vector<Subject>& subjects() {
  static const std::vector<Subject> kAll = {
      {"null",
       {.device = Device::Null()},
       {Lacks::Numbers, Lacks::DataExtents, Lacks::ControlFlow}},
      {"cpu_llvm", {.device = Device::Cpu(), .codegen = "llvm"}, {}},
      {"cpu_c", {.device = Device::Cpu(), .codegen = "c"}, {}},
      {"cuda", {.device = Device::Cuda(0)}, {}},
  };
  return kAll;
}

class DeviceSuite : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    const Device device = *GetParam().options.device;
    if (!is_available(device)) GTEST_SKIP() << why_unavailable(device);
  }
  static bool lacks(Lacks what) { return GetParam().lacks.contains(what); }
  static CompiledGraph compile(const Graph& g) { return Session(GetParam().options).compile(g); }

  // Of a device that computes no numbers: as many.
  static void expect(const std::vector<float>& actual, const std::vector<float>& expected,
                     float tolerance = 1e-5F) {
    ASSERT_EQ(actual.size(), expected.size());
    if (lacks(Lacks::Numbers)) return;
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
  }

  template <typename Call>
  static void expect_refused(Call call, const std::string& what, ErrorKind kind = ErrorKind::User) {
    const std::string text = error_of(call, kind);
    EXPECT_NE(text.find(what), std::string::npos) << text;
  }
  // Runs `call` where the device has the feature; else it must say that it has not.
  template <typename Call>
  static void unless_lacking(Lacks what, Call call) {
    if (!lacks(what)) return call();
    EXPECT_NE(error_of(call, ErrorKind::Unsupported), "no error");
  }
};

inline std::vector<float> floats(const TensorView& view) {
  int64_t count = 1;
  for (const int64_t extent : view.shape) count *= extent;
  const auto* data = static_cast<const float*>(view.data);
  return {data, data + count};
}
inline std::vector<float> floats(const OwnedTensor& tensor) {
  return floats(view(std::span(reinterpret_cast<const float*>(tensor.bytes.data()),
                               tensor.bytes.size() / sizeof(float)),
                     tensor.shape));
}

}  // namespace tenon::device_test

// Of every file of the suite, after its tests.
#define TENON_ON_EVERY_DEVICE(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(Every, suite, testing::ValuesIn(tenon::device_test::subjects()), \
                           [](const auto& info) { return std::string(info.param.name); })
