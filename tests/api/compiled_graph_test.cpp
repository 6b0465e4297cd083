// The public API on a small encoder: names, shapes and threads that a caller may get wrong, the two
// ways to run, and no allocation after the first run of a shape. That the numbers are right is
// shown by tests/python/compare_ort.py.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon {
namespace {

class CompiledGraphTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string path =
        std::filesystem::path(testing::TempDir()) / ("tenon_api_" + std::to_string(getpid()));
    std::ofstream(path, std::ios::binary) << make_encoder::encoder_model(
        {.layers = 2, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100, .maxpos = 64});
    graph_ = std::make_unique<CompiledGraph>(Session().compile_onnx(path));
    std::filesystem::remove(path);  // mapped: the file may go
  }
  static void TearDownTestSuite() { graph_.reset(); }

  struct Request {
    std::vector<int64_t> shape, ids, mask, types;
    std::vector<float> hidden;
    NamedInputs inputs;
    NamedOutputs outputs;

    Request(int64_t batch, int64_t seq) : shape{batch, seq} {
      const auto tokens = static_cast<size_t>(batch * seq);
      for (size_t i = 0; i < tokens; ++i) ids.push_back(static_cast<int64_t>(i * 37 % 100));
      mask.assign(tokens, 1);
      types.assign(tokens, 0);
      hidden.assign(tokens * 64, -1);
      inputs = {{"input_ids", view(ids, shape)},
                {"attention_mask", view(mask, shape)},
                {"token_type_ids", view(types, shape)}};
      outputs["last_hidden_state"] = {hidden.data(), dtype_of<float>(), {batch, seq, 64}};
    }
    Request(const Request&) = delete;
    Request(Request&&) = default;  // the vectors' memory, and so the views, stay where they are
  };

  static std::string run_error(const NamedInputs& inputs) {
    try {
      graph_->run(inputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::User);
      return error.what();
    }
    return "";
  }

  static inline std::unique_ptr<CompiledGraph> graph_;
};

TEST_F(CompiledGraphTest, DescribesItself) {
  ASSERT_EQ(graph_->inputs().size(), 3u);
  EXPECT_EQ(graph_->inputs()[0].name, "input_ids");
  EXPECT_EQ(graph_->inputs()[0].shape, (std::vector<std::string>{"batch", "seq"}));
  EXPECT_EQ(graph_->outputs()[0].shape, (std::vector<std::string>{"batch", "seq", "64"}));
  EXPECT_GT(graph_->stats().kernels, 0);
  EXPECT_GE(graph_->stats().steps, graph_->stats().kernels / 2);
}

TEST_F(CompiledGraphTest, RunAndRunIntoGiveTheSameBits) {
  Request request(3, 7);
  const std::vector<OwnedTensor> results = graph_->run_typed(request.inputs);
  graph_->run_into(request.inputs, request.outputs);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].shape, (std::vector<int64_t>{3, 7, 64}));
  const std::span<const float> hidden = results[0].as<float>();
  ASSERT_EQ(hidden.size(), request.hidden.size());
  EXPECT_EQ(std::memcmp(hidden.data(), request.hidden.data(), hidden.size_bytes()), 0);
  EXPECT_THROW(results[0].as<double>(), Error);
}

TEST_F(CompiledGraphTest, NamesThatDoNotExistOrAreMissingAreErrors) {
  Request request(1, 4);
  request.inputs["ids"] = request.inputs["input_ids"];
  EXPECT_EQ(run_error(request.inputs),
            "unknown input \"ids\"; the model's inputs are \"input_ids\", \"attention_mask\", "
            "\"token_type_ids\"");
  request.inputs.erase("ids");
  request.inputs.erase("attention_mask");
  EXPECT_EQ(
      run_error(request.inputs),
      "missing input \"attention_mask\" i64[batch, seq]; the model's inputs are \"input_ids\", "
      "\"attention_mask\", \"token_type_ids\"");
}

TEST_F(CompiledGraphTest, AnIndexOutsideTheEmbeddingTableIsAnErrorOfTheRun) {
  Request request(2, 4);
  request.ids[5] = 100;
  EXPECT_NE(run_error(request.inputs).find("index 100 lies outside 0..99"), std::string::npos)
      << run_error(request.inputs);
  request.ids[5] = 99;
  EXPECT_EQ(run_error(request.inputs), "");
}

TEST_F(CompiledGraphTest, ARunThatIsAskedToStopIsCancelledAndTheNextOneIsNot) {
  Request request(3, 7);
  graph_->run_into(request.inputs, request.outputs);
  const std::vector<float> expected = request.hidden;
  std::stop_source source;
  source.request_stop();
  const RunOptions stopped{.stop = source.get_token()};
  EXPECT_THROW(graph_->run_into(request.inputs, request.outputs, stopped), Cancelled);
  EXPECT_THROW(graph_->run(request.inputs, stopped), Cancelled);
  const std::stop_source nobody;
  graph_->run_into(request.inputs, request.outputs, {.stop = nobody.get_token()});
  EXPECT_EQ(request.hidden, expected);
}

TEST_F(CompiledGraphTest, AMemoryLimitIsWhatPeakBytesSays) {
  Request request(3, 7);
  const int64_t peak = graph_->peak_bytes({{"batch", 3}, {"seq", 7}});
  EXPECT_GT(peak, 0);
  EXPECT_GT(graph_->peak_bytes({{"batch", 30}, {"seq", 60}}), peak);
  graph_->run_into(request.inputs, request.outputs, {.memory_limit = peak});
  EXPECT_LE(graph_->arena_bytes(), peak);
  try {
    graph_->run_into(request.inputs, request.outputs, {.memory_limit = peak - 1});
    FAIL() << "one byte less is too few";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User);
    const std::string message = error.what();
    EXPECT_NE(message.find(std::to_string(peak) + " bytes are needed"), std::string::npos);
    EXPECT_NE(message.find("the limit is " + std::to_string(peak - 1)), std::string::npos);
    EXPECT_NE(message.find("batch = 3, seq = 7"), std::string::npos) << message;
  }
  graph_->run_into(request.inputs, request.outputs);
  EXPECT_THROW(graph_->run(request.inputs, {.memory_limit = -1}), Error);
  EXPECT_THROW(graph_->peak_bytes({{"batch", 3}}), Error);
}

TEST_F(CompiledGraphTest, ARunThatALimitRefusesLeavesTheOutputsOfTheLastOne) {
  Request request(3, 7), larger(5, 20);
  graph_->run(request.inputs);
  const auto row = graph_->read_output_row(0, 2, 16);
  ASSERT_TRUE(row);
  const RunOptions little{.memory_limit = 1};
  EXPECT_THROW(graph_->run(larger.inputs, little), Error);
  EXPECT_THROW(graph_->run_typed(larger.inputs, little), Error);
  EXPECT_THROW(graph_->run_raw(larger.inputs, little), Error);
  EXPECT_THROW(graph_->run_into(larger.inputs, larger.outputs, little), Error);
  EXPECT_EQ(graph_->read_output_row(0, 2, 16), row);
  graph_->run_into(larger.inputs, larger.outputs);
  EXPECT_FALSE(graph_->read_output_row(0, 2, 16));
}

TEST_F(CompiledGraphTest, AConcurrentRunIsAnError) {
  std::atomic<bool> stop = false;
  std::atomic<int> started = 0, refused = 0;
  const auto loop = [&] {
    Request request(4, 32);
    ++started;
    while (!stop) {
      try {
        graph_->run_into(request.inputs, request.outputs);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("in use by another thread"), std::string::npos)
            << error.what();
        ++refused;
        stop = true;
      }
    }
  };
  std::thread other(loop);
  loop();
  other.join();
  EXPECT_GT(refused.load(), 0);
}

TEST(Device, NamesAreReadAndWritten) {
  EXPECT_EQ(Device(), Device::Cpu());
  EXPECT_EQ(to_string(Device::Cpu()), "cpu");
  EXPECT_EQ(to_string(Device::Cuda()), "cuda:0");
  EXPECT_EQ(Device::parse("cuda:12"), Device::Cuda(12));
  EXPECT_EQ(Device::parse("cuda"), Device::Cuda(0));
  for (const char* text : {"", "gpu", "cuda:", "cuda:1x", "cuda:-1", "CPU"}) {
    EXPECT_THROW(Device::parse(text), Error) << text;
  }
  EXPECT_TRUE(is_available(Device::Cpu()));
  EXPECT_EQ(why_unavailable(Device::Cpu()), "");
  EXPECT_FALSE(is_available(Device::Cuda(77)));
  EXPECT_NE(why_unavailable(Device::Cuda(77)), "");
}

TEST(Device, AGraphIsCompiledForAGpuThatIsNotThereOnlyWhereItIsSaidWhich) {
  const std::string path = std::filesystem::path(testing::TempDir()) /
                           ("tenon_api_gpu_" + std::to_string(getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << make_encoder::encoder_model(
      {.layers = 1, .hidden = 64, .heads = 2, .ffn = 128, .vocab = 100, .maxpos = 64});
  const auto error_of = [&](const CompileOptions& options) -> std::string {
    try {
      Session().compile_onnx(path, options).run({});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string unknown = error_of({.device = Device::Cuda(77)});
  EXPECT_EQ(unknown.find("[compile] cuda:77 is not available: "), 0U) << unknown;
  const std::string cpu = error_of({.cuda_arch = 90});
  EXPECT_EQ(cpu.find("[compile] cuda_arch 90 is for GPUs"), 0U) << cpu;
  // It is the run that fails, or NVRTC where there is none.
  const std::string compiled = error_of({.device = Device::Cuda(77), .cuda_arch = 90});
  EXPECT_NE(compiled, "");
  EXPECT_EQ(compiled.find("[compile]"), std::string::npos) << compiled;
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tenon
