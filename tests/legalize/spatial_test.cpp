// Image ops written with others, against the ops themselves.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "tests/legalize/same_results.h"

namespace tenon::legalize {
namespace {

using namespace graph;
using graph_test::random_tensors;
using graph_test::Tensors;

using Count = std::vector<int64_t>;

template <typename T>
Tensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {dtype, std::move(shape), {bytes.begin(), bytes.end()}};
}

const float kInf = std::numeric_limits<float>::infinity();

// --- grid_sample

struct GridCase {
  std::string mode, padding;
  bool corners;
  int rank;
};
std::ostream& operator<<(std::ostream& stream, const GridCase& c) {
  return stream << c.mode << " " << c.padding << " " << c.corners << " " << c.rank;
}

class GridSampleTest : public ::testing::TestWithParam<GridCase> {};

TEST_P(GridSampleTest, IsItsTaps) {
  const GridCase& c = GetParam();
  Graph g;
  const Dim n = Symbol("b");
  Shape image = c.rank == 1   ? Shape{n, 2, 5}
                : c.rank == 2 ? Shape{n, 2, 5, 4}
                              : Shape{n, 2, 3, 4, 5};
  Shape grid = c.rank == 1   ? Shape{n, 9, 1}
               : c.rank == 2 ? Shape{n, 3, 7, 2}
                             : Shape{n, 2, 3, 2, 3};
  const Value x = g.input("x", {image, DType::F32});
  const Value at = g.mul(g.input("grid", {grid, DType::F32}), g.scalar(DType::F32, 2.5));
  g.set_outputs({{"y", g.apply(Op::GridSample, {x, at},
                               {{"mode", c.mode},
                                {"padding", c.padding},
                                {"align_corners", int64_t{c.corners}}})}});
  Tensors inputs = random_tensors(g, {{"b", 2}});
  expect_same_results(g, inputs);
  // Coordinates that are no numbers, or far outside; an image that holds others than numbers.
  auto* numbers = reinterpret_cast<float*>(inputs.at("grid").bytes.data());
  numbers[0] = NAN, numbers[1] = kInf, numbers[2] = -1e30F, numbers[3] = 0;
  reinterpret_cast<float*>(inputs.at("x").bytes.data())[3] = NAN;
  expect_same_results(g, inputs);
}

std::vector<GridCase> grid_cases() {
  std::vector<GridCase> cases;
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const bool corners : {false, true}) {
        for (const int rank : {1, 2, 3}) {
          if (rank < 3 || std::string(mode) != "cubic")
            cases.push_back({mode, padding, corners, rank});
        }
      }
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, GridSampleTest, ::testing::ValuesIn(grid_cases()));

TEST(AffineGrid, IsItsPoints) {
  for (const int64_t corners : {0, 1}) {
    Graph g;
    const Value theta = g.input("theta", {{Symbol("b"), 2, 3}, DType::F32});
    const Value size = g.input("size", {{4}, DType::I64});
    const Dim h = g.fresh_symbol("grid", {0, kDimInf}), w = g.fresh_symbol("grid", {0, kDimInf});
    g.set_outputs({{"y", g.apply(Op::AffineGrid, {theta, size},
                                 {{"shape", std::vector<Dim>{Symbol("b"), h, w, 2}},
                                  {"align_corners", corners}})}});
    Tensors inputs = random_tensors(g, {{"b", 2}});
    for (const int64_t width : {1, 6}) {
      inputs["size"] = tensor<int64_t>(DType::I64, {4}, {2, 3, 5, width});
      expect_same_results(g, inputs);
    }
  }
}

// --- resize

struct ResizeCase {
  std::string mode, coordinates;
  int64_t antialias = 0, exclude = 0;
};
std::ostream& operator<<(std::ostream& stream, const ResizeCase& c) {
  return stream << c.mode << " " << c.coordinates << " " << c.antialias << c.exclude;
}

Attributes resize_attributes(const ResizeCase& c, std::vector<Dim> shape, Count order,
                             const char* policy = "stretch",
                             const char* rounding = "round_prefer_floor") {
  return {{"shape", std::move(shape)},
          {"order", std::move(order)},
          {"mode", c.mode},
          {"coordinates", c.coordinates},
          {"rounding", rounding},
          {"policy", policy},
          {"cubic", -0.75},
          {"outside", 7.0},
          {"exclude_outside", c.exclude},
          {"antialias", c.antialias}};
}

class ResizeTest : public ::testing::TestWithParam<ResizeCase> {};

TEST_P(ResizeTest, IsItsTaps) {
  const ResizeCase& c = GetParam();
  for (const auto& scales : std::vector<std::vector<float>>{{1.7F, 0.6F}, {0.3F, 1}, {3, 0.2F}}) {
    for (const bool known : {true, false}) {
      Graph g;
      const Value x = g.input("x", {{Symbol("b"), 2, 7, 5}, DType::F32});
      const auto bytes = std::make_shared<std::vector<std::byte>>(8);
      std::memcpy(bytes->data(), scales.data(), 8);
      const TensorType type{{2}, DType::F32};
      const Value given = known ? g.constant(type, {*bytes, bytes}) : g.input("scales", type);
      std::vector<Dim> out{static_cast<int64_t>(5 * scales[0]),
                           static_cast<int64_t>(7 * scales[1])};
      if (!known) {
        for (Dim& dim : out) dim = g.fresh_symbol("resize", {0, kDimInf});
      }
      std::vector<Value> operands{x, given};
      if (c.coordinates == "tf_crop_and_resize")
        operands.push_back(g.input("region", {{4}, DType::F32}));
      g.set_outputs(
          {{"y", g.apply(Op::Resize, operands,
                         resize_attributes(c, {Symbol("b"), 2, out[1], out[0]}, {3, 2}))}});
      Tensors inputs = random_tensors(g, {{"b", 2}});
      if (!known) inputs["scales"] = tensor(DType::F32, {2}, scales);
      expect_same_results(g, inputs, 1e-5);
    }
  }
}

std::vector<ResizeCase> resize_cases() {
  std::vector<ResizeCase> cases;
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                    "align_corners", "asymmetric", "tf_crop_and_resize"}) {
      cases.push_back({mode, coordinates});
    }
    cases.push_back({mode, "half_pixel", 0, 1});
    cases.push_back({mode, "half_pixel", 1, 0});
    cases.push_back({mode, "align_corners", 1, 1});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, ResizeTest, ::testing::ValuesIn(resize_cases()));

TEST(Resize, RoundsAsItSays) {
  for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    Graph g;
    const Value x = g.input("x", {{3, 6}, DType::I32});
    g.set_outputs({{"y", g.apply(Op::Resize, {x, g.integers({4, 9})},
                                 resize_attributes({"nearest", "half_pixel"}, {4, 9}, {0, 1},
                                                   "stretch", rounding))}});
    expect_same_results(g, random_tensors(g, {}));
  }
}

TEST(Resize, KeepsTheAspectOfSizesThatAreData) {
  for (const char* policy : {"not_larger", "not_smaller"}) {
    Graph g;
    const Value x = g.input("x", {{3, 6}, DType::F32}), sizes = g.input("sizes", {{2}, DType::I64});
    const Dim h = g.fresh_symbol("resize", {0, kDimInf}),
              w = g.fresh_symbol("resize", {0, kDimInf});
    g.set_outputs(
        {{"y", g.apply(Op::Resize, {x, sizes},
                       resize_attributes({"linear", "half_pixel"}, {h, w}, {0, 1}, policy))}});
    Tensors inputs = random_tensors(g, {});
    inputs["sizes"] = tensor<int64_t>(DType::I64, {2}, {7, 8});
    expect_same_results(g, inputs);
  }
}

// --- regions

TEST(RoiAlign, IsItsSamples) {
  for (const char* mode : {"avg", "max"}) {
    for (const int64_t samples : {0, 2}) {
      for (const int64_t half : {0, 1}) {
        Graph g;
        const Dim r = Symbol("r", {0, 64});
        const Value x = g.input("x", {{2, 3, 6, 5}, DType::F32});
        const Value rois = g.input("rois", {{r, 4}, DType::F32});
        const Value owners = g.input("owners", {{r}, DType::I64});
        g.set_outputs({{"y", g.apply(Op::RoiAlign, {x, rois, owners},
                                     {{"extents", Count{2, 3}},
                                      {"scale", 0.75},
                                      {"samples", samples},
                                      {"mode", mode},
                                      {"half_pixel", half}})}});
        Tensors inputs = random_tensors(g, {{"r", 3}});
        inputs["owners"] = tensor<int64_t>(DType::I64, {3}, {1, 0, 1});
        inputs["rois"] =
            tensor<float>(DType::F32, {3, 4}, {0, 0, 6, 7, -9, 2, 1, 3.5F, 4, 4, 4, 40});
        expect_same_results(g, inputs);
        inputs["owners"] = tensor<int64_t>(DType::I64, {3}, {1, 0, 2});
        EXPECT_THROW(graph::interpret(decompose(g), inputs), Error);
        inputs["owners"] = tensor<int64_t>(DType::I64, {0}, {});
        inputs["rois"] = tensor<float>(DType::F32, {0, 4}, {});
        expect_same_results(g, inputs);
      }
    }
  }
}

TEST(RoiPool, IsTheLargestOfEachBin) {
  Graph g;
  const Value x = g.input("x", {{2, 3, 6, 5}, DType::F32});
  const Value rois = g.input("rois", {{Symbol("r"), 5}, DType::F32});
  g.set_outputs(
      {{"y", g.apply(Op::RoiPool, {x, rois}, {{"extents", Count{2, 3}}, {"scale", 0.5}})}});
  Tensors inputs = random_tensors(g, {{"r", 3}});
  inputs["rois"] =
      tensor<float>(DType::F32, {3, 5}, {1, 0, 0, 7, 9, 0, -3, 2, 5, 3, 1, 20, 20, 30, 30});
  expect_same_results(g, inputs);
  inputs["rois"] = tensor<float>(DType::F32, {1, 5}, {5, 0, 0, 1, 1});
  EXPECT_THROW(graph::interpret(decompose(g), inputs), Error);
}

// --- windows

TEST(DeformConv, IsAProductOfMovedTaps) {
  Graph g;
  const Value x = g.input("x", {{2, 4, 5, 6}, DType::F32});
  const Value w = g.param("w", {{6, 2, 3, 2}, DType::F32});
  const Value offsets = g.input("offsets", {{2, 24, 3, 5}, DType::F32});
  const Value mask = g.input("mask", {{2, 12, 3, 5}, DType::F32});
  g.set_outputs(
      {{"y", g.apply(Op::DeformConv, {x, w, g.mul(offsets, g.scalar(DType::F32, 2)), mask},
                     {{"begins", std::vector<Dim>{1, 0}},
                      {"strides", Count{2, 1}},
                      {"dilations", Count{1, 2}},
                      {"groups", int64_t{2}},
                      {"offset_groups", int64_t{2}}})}});
  expect_same_results(g, random_tensors(g, {}), 1e-5);
}

TEST(ConvTranspose, IsAConvolutionOfPhases) {
  struct Case {
    Count kernel, strides;
    int64_t groups;
    std::vector<Dim> begins, extents;
  };
  const std::vector<Case> cases{{{3, 3}, {1, 1}, 1, {0, 1}, {7, 6}},
                                {{2, 2}, {2, 2}, 1, {0, 0}, {10, 12}},
                                {{4, 3}, {2, 3}, 2, {1, 2}, {10, 14}},
                                {{1, 5}, {2, 2}, 2, {0, 1}, {9, 13}}};
  for (const Case& c : cases) {
    Graph g;
    const Value x = g.input("x", {{Symbol("b"), 4, 5, 6}, DType::F32});
    const Value w = g.param("w", {{4, 3, c.kernel[0], c.kernel[1]}, DType::F32});
    const Value bias = g.param("bias", {{3 * c.groups}, DType::F32});
    g.set_outputs({{"y", g.apply(Op::ConvTranspose, {x, w, bias},
                                 {{"extents", c.extents},
                                  {"begins", c.begins},
                                  {"strides", c.strides},
                                  {"dilations", Count{1, 1}},
                                  {"groups", c.groups}})}});
    expect_same_results(g, random_tensors(g, {{"b", 2}}));
    EXPECT_FALSE(contains(decompose(g), Op::ConvTranspose));
  }
}

TEST(Col2Im, SumsWindowsThatOverlap) {
  Graph g;
  const Dim h = g.fresh_symbol("image", {0, kDimInf}), w = g.fresh_symbol("image", {0, kDimInf}),
            c = g.fresh_symbol("channels", {0, kDimInf});
  const Value x = g.input("x", {{2, 12, Symbol("s")}, DType::F32});
  const Value image = g.input("image", {{2}, DType::I64}),
              block = g.input("block", {{2}, DType::I64});
  g.set_outputs({{"y", g.apply(Op::Col2Im, {x, image, block},
                               {{"shape", std::vector<Dim>{2, c, h, w}},
                                {"pads", Count{1, 0, 0, 1}},
                                {"strides", Count{1, 2}},
                                {"dilations", Count{2, 1}}})}});
  Tensors inputs = random_tensors(g, {{"s", 12}});  // 4 x 3 windows
  inputs["image"] = tensor<int64_t>(DType::I64, {2}, {5, 7});
  inputs["block"] = tensor<int64_t>(DType::I64, {2}, {2, 3});
  expect_same_results(g, inputs);
}

// --- determinants

TEST(Det, EliminatesWithPivots) {
  for (const int64_t n : {1, 2, 5}) {
    Graph g;
    const Value x = g.input("x", {{Symbol("b"), 2, n, n}, DType::F32});
    g.set_outputs({{"y", g.apply(Op::Det, {x})}});
    Tensors inputs = random_tensors(g, {{"b", 3}});
    auto* numbers = reinterpret_cast<float*>(inputs.at("x").bytes.data());
    std::fill_n(numbers, n, 0.0F);                       // a row of zeros
    if (n > 1) numbers[n * n] = numbers[n * n + n] = 0;  // a pivot further down
    expect_same_results(g, inputs);
  }
}

TEST(Det, ManyRowsAndThoseThatOnlyTheRunKnowsAreALoop) {
  Graph g;
  const Dim n = Symbol("n", {0, 64});
  g.set_outputs({{"y", g.apply(Op::Det, {g.input("x", {{Symbol("b"), n, n}, DType::F64})})}});
  for (const int64_t rows : {0, 1, 2, 7, 20}) {
    Tensors inputs = random_tensors(g, {{"b", 3}, {"n", rows}});
    auto* numbers = reinterpret_cast<double*>(inputs.at("x").bytes.data());
    std::fill_n(numbers, rows, 0.0);
    if (rows > 1) numbers[rows * rows] = numbers[rows * rows + rows] = 0;
    expect_same_results(g, inputs);
  }
}

}  // namespace
}  // namespace tenon::legalize
