// What devices compute with: every dtype that goes in and out, and extents that depend on data. By
// hand.
#include "tests/conformance/device/subject.h"

namespace tenon::device_test {
namespace {

using DeviceValues = DeviceSuite;

TEST_P(DeviceValues, GoInAndOutInEveryDtype) {
  const std::vector<float> numbers = {0, 1, 2, 3, 5, 100};
  for (const DType dtype :
       {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32,
        DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64}) {
    SCOPED_TRACE(to_string(dtype));
    Graph g;
    const Value x = g.input("x", {{Symbol("n", {1, 64})}, dtype});
    g.set_outputs({{"same", x}, {"twice", g.add(x, x)}, {"f32", g.cast(x, DType::F32)}});
    CompiledGraph graph = compile(g);
    std::vector<std::byte> bytes(numbers.size() * static_cast<size_t>(size_of(dtype)));
    for (size_t i = 0; i < numbers.size(); ++i)
      store_from_f64(dtype, &bytes[i * static_cast<size_t>(size_of(dtype))], numbers[i]);
    const TensorView view(bytes.data(), dtype, {6});
    const auto outputs = graph.run({{"x", view}});
    std::vector<float> twice;
    for (const float number : numbers)  // 200 is too much for an i8, as for any of them
      twice.push_back(dtype == DType::I8 && number == 100 ? -56 : 2 * number);
    expect(outputs[0], numbers);
    expect(outputs[1], twice);
    expect(outputs[2], numbers);
  }
}

TEST_P(DeviceValues, DecideExtents) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {1, 64})}, DType::F32});
  const Dim found = Symbol("found", {0, 64});
  const Value at = g.op1("non_zero", {x}, {{"count", std::vector<Dim>{found}}});
  g.set_outputs({{"kept", g.gather(x, g.reshape(at, {found}), 0)}});
  unless_lacking(Lacks::DataExtents, [&] {
    CompiledGraph graph = compile(g);
    for (const std::vector<float>& values :
         {std::vector<float>{0, 3, 0, 4}, {0, 0}, {5}, {1, 2, 3, 0, 4, 5, 6}}) {
      std::vector<float> kept = values;
      std::erase(kept, 0);
      const auto outputs = graph.run({{"x", view(values, {static_cast<int64_t>(values.size())})}});
      expect(outputs[0], kept);
    }
  });
}

TENON_ON_EVERY_DEVICE(DeviceValues);

}  // namespace
}  // namespace tenon::device_test
