// Handles, slots, active extents and options of runs, through the C API: what runs leave behind,
// computed by hand, and a sentence for what is wrong.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "tenon/c_api.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
using Extents = std::vector<int64_t>;

struct Free {
  void operator()(tenon_model* model) const { tenon_free(model); }
  void operator()(tenon_handle* fork) const { tenon_free_fork(fork); }
  void operator()(tenon_stop* stop) const { tenon_free_stop(stop); }
};
using Model = std::unique_ptr<tenon_model, Free>;
using Fork = std::unique_ptr<tenon_handle, Free>;
using Stop = std::unique_ptr<tenon_stop, Free>;

Model through_a_file(const Graph& graph) {
  const std::string path =
      std::filesystem::path(testing::TempDir()) / ("tenon_c_handles_" + std::to_string(getpid()));
  Session().compile(graph).save(path);
  tenon_model* model = nullptr;
  EXPECT_EQ(tenon_load(path.c_str(), nullptr, &model), TENON_OK) << tenon_last_error();
  std::filesystem::remove(path);
  return Model(model);
}

// A log of numbers that grows by x; y is its sum.
Model log_of_numbers() {
  Graph g;
  const Value log = g.state("log", {{sym::past()}, DType::F32}, {.axis = 0, .capacity = 4});
  const Value x = g.input("x", {{sym::seq()}, DType::F32});
  g.set_outputs({{"y", g.reduce_sum(g.update(log, x, sym::past()), {0})}});
  return through_a_file(g);
}

tenon_tensor tensor(const char* name, const Floats& values, const Extents& extents) {
  return {name, TENON_F32, static_cast<int>(extents.size()), extents.data(), values.data()};
}

tenon_status run(const Model& model, const char* name, const Floats& values) {
  const Extents extents = {static_cast<int64_t>(values.size())};
  const tenon_tensor input = tensor(name, values, extents);
  return tenon_run(model.get(), &input, 1);
}

Floats floats(const tenon_tensor& of) {
  int64_t count = 1;
  for (int axis = 0; axis < of.rank; ++axis) count *= of.extents[axis];
  const auto* data = static_cast<const float*>(of.data);
  return {data, data + count};
}

Floats output(const Model& model, int index = 0) {
  tenon_tensor y;
  EXPECT_EQ(tenon_get_output(model.get(), index, &y), TENON_OK) << tenon_last_error();
  return floats(y);
}

Floats handle(const Model& model, const char* name) {
  tenon_tensor value;
  EXPECT_EQ(tenon_read_handle(model.get(), name, &value), TENON_OK) << tenon_last_error();
  EXPECT_STREQ(value.name, name);
  return floats(value);
}

void bind(const Model& model, const char* name, const Floats& values) {
  const Extents extents = {static_cast<int64_t>(values.size())};
  const tenon_tensor value = tensor(name, values, extents);
  EXPECT_EQ(tenon_bind_handle(model.get(), &value), TENON_OK) << tenon_last_error();
}

TEST(CApiHandles, GrowAreTrimmedAndForked) {
  const Model model = log_of_numbers();
  EXPECT_EQ(tenon_has_handle(model.get(), "log"), 0);
  bind(model, "log", {});
  EXPECT_EQ(tenon_has_handle(model.get(), "log"), 1);
  ASSERT_EQ(run(model, "x", {1, 2, 3}), TENON_OK) << tenon_last_error();
  EXPECT_EQ(output(model), (Floats{6}));
  EXPECT_EQ(handle(model, "log"), (Floats{1, 2, 3}));

  tenon_handle* forked = nullptr;
  ASSERT_EQ(tenon_fork_handle(model.get(), "log", &forked), TENON_OK) << tenon_last_error();
  const Fork fork(forked);
  ASSERT_EQ(tenon_trim_handle(model.get(), "log", 1), TENON_OK) << tenon_last_error();
  ASSERT_EQ(run(model, "x", {10}), TENON_OK);
  EXPECT_EQ(handle(model, "log"), (Floats{1, 10}));
  tenon_tensor description;
  ASSERT_EQ(tenon_describe_fork(fork.get(), &description), TENON_OK);
  EXPECT_EQ(description.dtype, TENON_F32);
  ASSERT_EQ(description.rank, 1);
  EXPECT_EQ(description.extents[0], 3);

  tenon_model* other = nullptr;
  ASSERT_EQ(tenon_clone(model.get(), &other), TENON_OK);
  const Model clone(other);
  EXPECT_EQ(handle(clone, "log"), (Floats{1, 10}));
  ASSERT_EQ(tenon_bind_fork(clone.get(), "log", fork.get()), TENON_OK) << tenon_last_error();
  ASSERT_EQ(run(clone, "x", {4}), TENON_OK);
  EXPECT_EQ(output(clone), (Floats{10}));
  EXPECT_EQ(handle(model, "log"), (Floats{1, 10}));

  ASSERT_EQ(tenon_unbind_handle(model.get(), "log"), TENON_OK);
  EXPECT_EQ(tenon_has_handle(model.get(), "log"), 0);
  EXPECT_EQ(run(model, "x", {1}), TENON_USER_ERROR);
}

TEST(CApiHandles, AreFedByAnOutput) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {1, 8})}, DType::F32});
  g.set_outputs({{"y", g.add(x, x)}});
  const Model model = through_a_file(g);
  bind(model, "x", {1, 3});
  ASSERT_EQ(tenon_set_handle_feed(model.get(), "x", "y"), TENON_OK) << tenon_last_error();
  ASSERT_EQ(tenon_run(model.get(), nullptr, 0), TENON_OK) << tenon_last_error();
  ASSERT_EQ(tenon_run(model.get(), nullptr, 0), TENON_OK) << tenon_last_error();
  EXPECT_EQ(output(model), (Floats{4, 12}));
  EXPECT_EQ(handle(model, "x"), (Floats{4, 12}));
  ASSERT_EQ(tenon_set_handle_feed(model.get(), "x", nullptr), TENON_OK);
  ASSERT_EQ(tenon_run(model.get(), nullptr, 0), TENON_OK);
  EXPECT_EQ(handle(model, "x"), (Floats{4, 12}));
}

TEST(CApiHandles, SayWhatIsWrong) {
  const Model model = log_of_numbers();
  const auto error = [](tenon_status status) -> std::string {
    EXPECT_EQ(status, TENON_USER_ERROR);
    return tenon_last_error();
  };
  const Floats none;
  const Extents empty = {0}, square = {0, 0};
  const tenon_tensor logs = tensor("logs", none, empty), flat = tensor("log", none, square);
  tenon_model* m = model.get();
  tenon_tensor value;
  tenon_handle* fork = nullptr;
  EXPECT_EQ(error(tenon_bind_handle(m, &logs)), "[bind_handle] the model has no input \"logs\"");
  EXPECT_EQ(error(tenon_bind_handle(m, &flat)),
            "[bind_handle] input \"log\" is f32[past], but f32[0, 0] is given");
  EXPECT_EQ(error(tenon_bind_handle(m, nullptr)), "[tenon_bind_handle] value is NULL");
  EXPECT_EQ(error(tenon_bind_fork(m, "log", nullptr)), "[tenon_bind_fork] fork is NULL");
  EXPECT_EQ(error(tenon_read_handle(m, "log", &value)),
            "[tenon_read_handle] \"log\" has no handle");
  EXPECT_EQ(error(tenon_read_handle(m, nullptr, &value)), "[tenon_read_handle] name is NULL");
  EXPECT_EQ(error(tenon_fork_handle(m, "log", &fork)), "[fork_handle] \"log\" has no handle");
  EXPECT_EQ(fork, nullptr);
  EXPECT_EQ(error(tenon_describe_fork(nullptr, &value)), "[tenon_describe_fork] fork is NULL");
  EXPECT_EQ(error(tenon_trim_handle(m, "log", 1)), "[trim_handle] \"log\" has no handle");
  EXPECT_EQ(error(tenon_unbind_handle(nullptr, "log")), "[tenon_unbind_handle] model is NULL");
  EXPECT_EQ(error(tenon_set_handle_feed(m, "log", "y")),
            "[set_handle_feed] \"log\" is a state: runs update it themselves");
  EXPECT_EQ(tenon_has_handle(nullptr, "log"), 0);
  EXPECT_EQ(tenon_has_handle(m, nullptr), 0);
}

// y = x + x over [n, 2].
Model doubled() {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {1, 4}), 2}, DType::F32});
  g.set_outputs({{"y", g.add(x, x)}});
  return through_a_file(g);
}

TEST(CApiSlots, RunAtTheExtentsThatWereSet) {
  const Model model = doubled();
  ASSERT_EQ(tenon_dim_count(model.get()), 1);
  tenon_dim dim;
  ASSERT_EQ(tenon_describe_dim(model.get(), 0, &dim), TENON_OK);
  EXPECT_STREQ(dim.name, "n");
  EXPECT_EQ(dim.least, 1);
  EXPECT_EQ(dim.most, 4);
  const Floats x = {1, 2, 3, 4};
  const tenon_bytes bytes = {x.data(), 16};
  EXPECT_EQ(tenon_run_slots(model.get(), &bytes, 1), TENON_USER_ERROR);  // no extents yet
  for (const int64_t rows : {2, 1}) {
    const tenon_extent extent = {"n", rows};
    const tenon_bytes some = {x.data(), rows * 8};
    ASSERT_EQ(tenon_set_extents(model.get(), &extent, 1), TENON_OK) << tenon_last_error();
    ASSERT_EQ(tenon_run_slots(model.get(), &some, 1), TENON_OK) << tenon_last_error();
    EXPECT_EQ(output(model), rows == 2 ? (Floats{2, 4, 6, 8}) : (Floats{2, 4}));
  }
}

TEST(CApiSlots, SayWhatIsWrong) {
  const Model model = doubled();
  const auto error = [](tenon_status status) -> std::string {
    EXPECT_EQ(status, TENON_USER_ERROR);
    return tenon_last_error();
  };
  const tenon_extent twice[] = {{"n", 1}, {"n", 2}}, unnamed = {nullptr, 1}, many = {"n", 5};
  EXPECT_EQ(error(tenon_set_extents(model.get(), twice, 2)),
            "[tenon_set_extents] \"n\" is given twice");
  EXPECT_EQ(error(tenon_set_extents(model.get(), &unnamed, 1)),
            "[tenon_set_extents] a dim is NULL");
  EXPECT_EQ(error(tenon_set_extents(model.get(), nullptr, 1)),
            "[tenon_set_extents] 1 extents, and where they are is NULL");
  EXPECT_NE(error(tenon_set_extents(model.get(), &many, 1)).find("5"), std::string::npos);
  ASSERT_EQ(tenon_set_extents(model.get(), twice, 1), TENON_OK);
  const Floats x = {1, 2};
  const tenon_bytes short_one = {x.data(), 4}, nowhere = {nullptr, 8};
  EXPECT_NE(error(tenon_run_slots(model.get(), &short_one, 1)).find("has 8 bytes"),
            std::string::npos);
  EXPECT_EQ(error(tenon_run_slots(model.get(), &nowhere, 1)),
            "[tenon_run_slots] 8 bytes, and where they are is NULL");
  tenon_dim dim;
  EXPECT_EQ(error(tenon_describe_dim(model.get(), 1, &dim)),
            "[tenon_describe_dim] there is no dim 1: there are 1");
}

TEST(CApiActiveExtent, LeavesTheRowsPastTheActiveOnes) {
  Graph g;
  const Value x = g.input("x", {{4}, DType::F32}, {.bucket_axis = 0});
  g.set_outputs({{"y", g.add(x, x)}, {"sum", g.reduce_sum(x, {0})}});
  const Model model = through_a_file(g);
  ASSERT_EQ(run(model, "x", {1, 1, 1, 1}), TENON_OK) << tenon_last_error();
  EXPECT_EQ(tenon_set_active_extent(model.get(), 5, 4), TENON_USER_ERROR);
  ASSERT_EQ(tenon_set_active_extent(model.get(), 2, 4), TENON_OK) << tenon_last_error();
  ASSERT_EQ(run(model, "x", {5, 6}), TENON_OK) << tenon_last_error();
  EXPECT_EQ(output(model), (Floats{10, 12, 2, 2}));
  EXPECT_EQ(output(model, 1), (Floats{11}));
  ASSERT_EQ(tenon_clear_active_extent(model.get()), TENON_OK);
  EXPECT_EQ(run(model, "x", {5, 6}), TENON_USER_ERROR);
  ASSERT_EQ(run(model, "x", {1, 2, 3, 4}), TENON_OK);
  EXPECT_EQ(output(model, 1), (Floats{10}));
}

TEST(CApiRunOptions, LimitMemoryAndStopRuns) {
  Graph g;
  const Value x = g.input("x", {{64}, DType::F32});
  const Value columns = g.reshape(x, {64, 1}), rows = g.reshape(x, {1, 64});
  g.set_outputs({{"y", g.reduce_sum(g.softmax(g.matmul(columns, rows)), {0, 1})}});
  const Model model = through_a_file(g);
  const Floats ones(64, 1);
  const tenon_run_options little = {.memory_limit = 8, .stop = nullptr};
  ASSERT_EQ(tenon_set_run_options(model.get(), &little), TENON_OK);
  EXPECT_EQ(run(model, "x", ones), TENON_USER_ERROR);
  EXPECT_NE(std::string(tenon_last_error()).find("the limit is 8"), std::string::npos)
      << tenon_last_error();

  tenon_stop* made = nullptr;
  ASSERT_EQ(tenon_make_stop(&made), TENON_OK);
  Stop stop(made);
  const tenon_run_options stoppable = {.memory_limit = 0, .stop = stop.get()};
  ASSERT_EQ(tenon_set_run_options(model.get(), &stoppable), TENON_OK);
  EXPECT_EQ(run(model, "x", ones), TENON_OK) << tenon_last_error();
  tenon_request_stop(stop.get());
  stop.reset();  // the model's runs still have it
  EXPECT_EQ(run(model, "x", ones), TENON_CANCELLED);
  EXPECT_STREQ(tenon_last_error(), "[run] cancelled");

  const tenon_run_options wrong = {.memory_limit = -1, .stop = nullptr};
  EXPECT_EQ(tenon_set_run_options(model.get(), &wrong), TENON_USER_ERROR);
  ASSERT_EQ(tenon_set_run_options(model.get(), nullptr), TENON_OK);
  EXPECT_EQ(run(model, "x", ones), TENON_OK) << tenon_last_error();
  EXPECT_NEAR(output(model)[0], 64, 1e-4);
}

}  // namespace
}  // namespace tenon
