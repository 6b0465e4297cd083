// The C API: what it gives is what C++ gives, and what is wrong becomes a status and a sentence.
// examples/run_artifact.c is a program in C that uses it.
#include "tenon/c_api.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "tenon/tenon.h"

namespace tenon {
namespace {

struct Free {
  void operator()(tenon_model* model) const { tenon_free(model); }
};
using Model = std::unique_ptr<tenon_model, Free>;

// y = x @ w over [n, 2]; w has no data where `w` is empty.
class CApi : public ::testing::Test {
 protected:
  CApi() {
    Graph graph;
    const Symbol n("n", {1, 100});
    const Value x = graph.input("x", {{n, 2}, DType::F32});
    const Value w = graph.param("w", {{2, 2}, DType::F32});
    graph.set_outputs({{"y", graph.matmul(x, w)}});
    Session().compile(graph).save(path_);
  }
  ~CApi() override { std::filesystem::remove(path_); }

  Model load() const {
    tenon_model* model = nullptr;
    EXPECT_EQ(tenon_load(path_.c_str(), nullptr, &model), TENON_OK) << tenon_last_error();
    return Model(model);
  }
  Model load_and_set() const {
    Model model = load();
    EXPECT_EQ(tenon_set_param(model.get(), &w_), TENON_OK) << tenon_last_error();
    return model;
  }

  std::string path_ =
      std::filesystem::path(testing::TempDir()) / ("tenon_c_" + std::to_string(getpid()));
  const int64_t square_[2] = {2, 2}, row_[2] = {1, 2}, three_[2] = {3, 2};
  const float weights_[4] = {1, 2, 3, 4}, x_[6] = {10, 100, 1, 0, 0, 1};
  tenon_tensor w_{"w", TENON_F32, 2, square_, weights_};
  tenon_tensor one_{"x", TENON_F32, 2, row_, x_};
  tenon_tensor many_{"x", TENON_F32, 2, three_, x_};
};

TEST_F(CApi, RunsAtAnyExtent) {
  const Model model = load_and_set();
  tenon_tensor y;
  ASSERT_EQ(tenon_run(model.get(), &one_, 1), TENON_OK) << tenon_last_error();
  ASSERT_EQ(tenon_get_output(model.get(), 0, &y), TENON_OK);
  EXPECT_STREQ(y.name, "y");
  EXPECT_EQ(y.dtype, TENON_F32);
  EXPECT_EQ(std::vector<int64_t>(y.extents, y.extents + y.rank), (std::vector<int64_t>{1, 2}));
  const float first[] = {310, 420};
  EXPECT_EQ(std::memcmp(y.data, first, sizeof(first)), 0);

  ASSERT_EQ(tenon_run(model.get(), &many_, 1), TENON_OK) << tenon_last_error();
  ASSERT_EQ(tenon_get_output(model.get(), 0, &y), TENON_OK);
  EXPECT_EQ(y.extents[0], 3);
  const float all[] = {310, 420, 1, 2, 3, 4};
  EXPECT_EQ(std::memcmp(y.data, all, sizeof(all)), 0);
}

TEST_F(CApi, LoadsWhereAndAsAsked) {
  const auto status_with = [&](const tenon_load_options& options) {
    tenon_model* model = nullptr;
    const tenon_status status = tenon_load(path_.c_str(), &options, &model);
    tenon_free(model);
    return status;
  };
  EXPECT_EQ(status_with({1, TENON_CHECK_WHEN_READ, "cpu"}), TENON_OK) << tenon_last_error();
  EXPECT_EQ(status_with({1, TENON_CHECK_AT_LOAD, nullptr}), TENON_OK) << tenon_last_error();
  EXPECT_EQ(status_with({1, TENON_CHECK_NEVER, nullptr}), TENON_OK) << tenon_last_error();
  EXPECT_EQ(status_with({1, TENON_CHECK_WHEN_READ, "tpu"}), TENON_USER_ERROR);
  EXPECT_NE(std::strstr(tenon_last_error(), "device 'tpu' is not known"), nullptr);
  EXPECT_EQ(status_with({1, static_cast<tenon_weight_check>(3), nullptr}), TENON_USER_ERROR);
  EXPECT_STREQ(tenon_last_error(), "[tenon_load] check_weights 3 is not known");
}

TEST_F(CApi, DescribesTheModel) {
  const Model model = load();
  ASSERT_EQ(tenon_input_count(model.get()), 1);
  ASSERT_EQ(tenon_output_count(model.get()), 1);
  tenon_tensor tensor;
  ASSERT_EQ(tenon_describe_input(model.get(), 0, &tensor), TENON_OK);
  EXPECT_STREQ(tensor.name, "x");
  EXPECT_EQ(tensor.rank, 2);
  EXPECT_EQ(tensor.extents[0], -1);
  EXPECT_EQ(tensor.extents[1], 2);
  EXPECT_EQ(tensor.data, nullptr);
  EXPECT_EQ(tenon_describe_output(model.get(), 1, &tensor), TENON_USER_ERROR);
  EXPECT_STREQ(tenon_last_error(), "[tenon_describe_output] there is no tensor 1: there are 1");
}

TEST_F(CApi, ClonesRunInThreadsOfTheirOwn) {
  const Model model = load_and_set();
  tenon_model* other = nullptr;
  ASSERT_EQ(tenon_clone(model.get(), &other), TENON_OK) << tenon_last_error();
  const Model clone(other);
  tenon_status status = TENON_INTERNAL_ERROR;
  std::thread([&] { status = tenon_run(clone.get(), &many_, 1); }).join();
  EXPECT_EQ(status, TENON_OK);
  tenon_tensor y;
  ASSERT_EQ(tenon_get_output(clone.get(), 0, &y), TENON_OK);
  EXPECT_EQ(static_cast<const float*>(y.data)[1], 420);
}

TEST_F(CApi, SaysWhatIsWrong) {
  tenon_model* none = nullptr;
  EXPECT_EQ(tenon_load("/no/such/file", nullptr, &none), TENON_USER_ERROR);
  EXPECT_STREQ(tenon_last_error(), "[/no/such/file] cannot open: No such file or directory");
  EXPECT_EQ(tenon_load(nullptr, nullptr, &none), TENON_USER_ERROR);
  EXPECT_STREQ(tenon_last_error(), "[tenon_load] path is NULL");
  EXPECT_EQ(none, nullptr);

  const Model model = load();
  const auto error_of = [&](const tenon_tensor& input) -> std::string {
    EXPECT_EQ(tenon_run(model.get(), &input, 1), TENON_USER_ERROR);
    return tenon_last_error();
  };
  EXPECT_EQ(error_of(one_), "parameter \"w\" is not set: call set_param before the first run");
  EXPECT_EQ(error_of({"x", TENON_I64, 2, row_, x_}), "input \"x\" is i64, expected f32[n, 2]");
  EXPECT_EQ(error_of({"x", TENON_NO_DTYPE, 2, row_, x_}),
            "[tenon_run] \"x\": dtype 0 is not known");
  EXPECT_EQ(error_of({"x", TENON_F32, 2, nullptr, x_}),
            "[tenon_run] \"x\": rank 2 without extents");
  EXPECT_EQ(error_of({nullptr, TENON_F32, 2, row_, x_}), "[tenon_run] a tensor's name is NULL");
  EXPECT_EQ(error_of({"x", TENON_F32, 2, row_, nullptr}), "input \"x\" has no data (null pointer)");
  tenon_tensor y;
  EXPECT_EQ(tenon_get_output(model.get(), 0, &y), TENON_USER_ERROR);
  EXPECT_STREQ(tenon_last_error(), "[tenon_get_output] the model has not run, or its run failed");
}

TEST_F(CApi, AnErrorIsOfTheThreadThatMadeIt) {
  EXPECT_EQ(tenon_load("/no/such/file", nullptr, nullptr), TENON_USER_ERROR);
  std::thread([] { EXPECT_STREQ(tenon_last_error(), ""); }).join();
  EXPECT_STREQ(tenon_last_error(), "[tenon_load] model is NULL");
}

TEST(Version, IsTheSameInNumbersAndText) {
  const std::string numbers = std::to_string(TENON_VERSION_MAJOR) + "." +
                              std::to_string(TENON_VERSION_MINOR) + "." +
                              std::to_string(TENON_VERSION_PATCH);
  EXPECT_EQ(numbers, TENON_VERSION_STRING);
  EXPECT_STREQ(tenon_version(), TENON_VERSION_STRING);
  EXPECT_GT(TENON_VERSION, TENON_MAKE_VERSION(0, 0, 9));
}

}  // namespace
}  // namespace tenon
