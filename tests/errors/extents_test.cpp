// Runs that must fail: extents, shapes, dtypes, capacities and names that do not fit the model, and
// indices outside a table. Each is a User error that says what is wrong and where, and leaves the
// graph usable.
#include <gtest/gtest.h>

#include "tests/driver/small_encoder.h"

namespace tenon::graph_test {
namespace {

class ExtentsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { graph_ = std::make_unique<CompiledGraph>(small_encoder()); }
  static void TearDownTestSuite() { graph_.reset(); }

  // The message of the error that the run must give.
  static std::string error_of(const Request& request) {
    try {
      graph_->run_into(request.inputs, request.outputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::User) << error.what();
      return error.what();
    }
    return "no error";
  }

  static void expect_error(const Request& request, const std::vector<std::string>& parts) {
    const std::string error = error_of(request);
    for (const std::string& part : parts) {
      EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in: " << error;
    }
    EXPECT_EQ(error_of(Request(2, 3)), "no error") << "after: " << error;
  }

  static inline std::unique_ptr<CompiledGraph> graph_;
};

TEST_F(ExtentsTest, ALengthAboveThePositionTable) {
  EXPECT_EQ(error_of(Request(1, kPositions)), "no error");
  expect_error(Request(1, kPositions + 1), {"seq", "513", "512"});
  expect_error(Request(1, 600), {"seq", "600", "512"});
}

TEST_F(ExtentsTest, AnExtentOfZero) {
  expect_error(Request(1, 0), {"seq", "0"});
  expect_error(Request(0, 4), {"batch", "0"});
}

TEST_F(ExtentsTest, BoundsGivenWhenCompiling) {
  CompiledGraph narrow =
      small_encoder({.threads = 0, .cpu = "", .dim_bounds = {{"seq", {2, 8}}, {"batch", {1, 4}}}});
  const auto message = [&](const Request& request) -> std::string {
    try {
      narrow.run_into(request.inputs, request.outputs);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(Request(4, 8)), "no error");
  EXPECT_NE(message(Request(4, 9)).find("seq = 9"), std::string::npos) << message(Request(4, 9));
  EXPECT_NE(message(Request(4, 1)).find("2..8"), std::string::npos) << message(Request(4, 1));
  EXPECT_NE(message(Request(5, 8)).find("batch = 5"), std::string::npos) << message(Request(5, 8));
  EXPECT_THROW(small_encoder({.threads = 0, .cpu = "", .dim_bounds = {{"sequence", {1, 8}}}}),
               Error);
}

TEST_F(ExtentsTest, InputsThatContradictEachOther) {
  Request request(2, 3);
  request.inputs["attention_mask"].shape = {1, 3};
  request.inputs["attention_mask"].capacity = {};
  expect_error(request, {"batch", "input_ids", "attention_mask", "2", "1"});
}

TEST_F(ExtentsTest, AnotherRank) {
  Request request(2, 3);
  request.inputs["token_type_ids"].shape = {6};
  request.inputs["token_type_ids"].capacity = {};
  expect_error(request, {"token_type_ids", "[6]", "rank 1", "i64[batch, seq]"});
}

TEST_F(ExtentsTest, AnotherDType) {
  Request request(2, 3);
  request.inputs["input_ids"].dtype = dtype_of<int32_t>();
  expect_error(request, {"input_ids", "i32", "i64"});
  Request other(2, 3);
  other.outputs["last_hidden_state"].dtype = dtype_of<double>();
  expect_error(other, {"last_hidden_state", "f64", "f32"});
}

TEST_F(ExtentsTest, NamesThatAreUnknownOrMissing) {
  Request request(2, 3);
  request.inputs["ids"] = request.inputs["input_ids"];
  expect_error(request, {"unknown input \"ids\"", "\"input_ids\""});
  request.inputs.erase("input_ids");
  expect_error(request, {"unknown input \"ids\""});
  request.inputs.erase("ids");
  expect_error(request, {"missing input \"input_ids\""});
  Request other(2, 3);
  other.outputs.clear();
  expect_error(other, {"missing output \"last_hidden_state\""});
}

TEST_F(ExtentsTest, AnOutputOfAnotherShape) {
  Request request(2, 3);
  request.outputs["last_hidden_state"].shape = {2, 4, kHidden};
  request.outputs["last_hidden_state"].capacity = {};
  expect_error(request, {"last_hidden_state", "[2, 4, 64]", "3"});
}

TEST_F(ExtentsTest, ACapacityBelowTheExtent) {
  Request request(2, 3);
  request.inputs["input_ids"].capacity = {2, 2};
  expect_error(request, {"input_ids", "capacity 2", "extent 3"});
  request.inputs["input_ids"].capacity = {1, 3};
  expect_error(request, {"input_ids", "capacity 1", "extent 2"});
  request.inputs["input_ids"].capacity = {3};
  expect_error(request, {"input_ids", "capacity"});
  Request other(2, 3);
  other.outputs["last_hidden_state"].capacity = {2, 3, kHidden - 1};
  expect_error(other, {"last_hidden_state", "capacity 63", "extent 64"});
}

// An axis whose extent the model fixes has no capacity of its own: its strides are in the code.
TEST_F(ExtentsTest, ACapacityOfAnAxisThatTheModelFixes) {
  Request request(2, 3);
  request.outputs["last_hidden_state"].capacity = {2, 3, kHidden + 1};
  expect_error(request, {"last_hidden_state", "capacity 65", "extent 64"});
}

// Capacity is how much memory there is; the bound of an extent does not limit it.
TEST_F(ExtentsTest, ACapacityAboveTheBoundOfTheExtentIsNoError) {
  EXPECT_EQ(error_of(Request(1, 3, kPositions + 100)), "no error");
}

TEST_F(ExtentsTest, NoMemory) {
  Request request(2, 3);
  request.inputs["input_ids"].data = nullptr;
  expect_error(request, {"input_ids", "null"});
}

// Of 2^31 - 1 rows: nothing this large is ever read or reserved, so the pointers of a small request
// will do.
class HugeRequest : public Request {
 public:
  HugeRequest() : Request(2, 3) {
    for (auto& [name, view] : inputs) view.shape = {kRows, kPositions}, view.capacity = {};
    for (auto& [name, view] : outputs)
      view.shape = {kRows, kPositions, kHidden}, view.capacity = {};
  }
  static constexpr int64_t kRows = (int64_t{1} << 31) - 1;
};

TEST_F(ExtentsTest, AnArenaThatNoMachineHas) {
  expect_error(HugeRequest(), {"bytes for the arena", "more than any machine has"});
}

TEST_F(ExtentsTest, AnOutputThatNoMachineHas) {
  const int64_t bytes = HugeRequest::kRows * kPositions * kHidden * 4;
  try {
    graph_->run(HugeRequest().inputs);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "out of memory: " + std::to_string(bytes) +
                                " bytes for output \"last_hidden_state\"");
  }
}

TEST_F(ExtentsTest, MemoryIsKnownBeforeARunAndNeedsNoData) {
  Request request(2, 3);
  for (auto& [name, view] : request.inputs) view.data = nullptr;
  const std::vector<MemoryUse> uses = graph_->memory_of(request.inputs);
  ASSERT_EQ(uses.size(), 5u);  // three inputs, an output, the arena
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(uses[i].bytes, 2 * 3 * 8) << uses[i].what;
  EXPECT_EQ(uses[3].what, "output \"last_hidden_state\"");
  EXPECT_EQ(uses[3].bytes, 2 * 3 * kHidden * 4);
  EXPECT_EQ(uses[4].what, "the arena");
  EXPECT_EQ(error_of(Request(2, 3)), "no error");
  EXPECT_EQ(uses[4].bytes, graph_->arena_bytes());
  EXPECT_THROW(graph_->memory_of(Request(1, kPositions + 1).inputs), Error);
  EXPECT_EQ(graph_->memory_of(HugeRequest().inputs)[3].bytes,
            HugeRequest::kRows * kPositions * kHidden * 4);
}

TEST_F(ExtentsTest, ATokenOutsideTheVocabularyIsReportedWithItsOrigin) {
  for (const int64_t id : {kVocab, int64_t{-101}, int64_t{1} << 40}) {
    Request request(3, 5);
    request.set(1, 2, id, 1);
    expect_error(request, {std::to_string(id), "0..99", "word_embeddings"});
  }
  Request negative(3, 5);  // counts from the end
  negative.set(1, 2, -kVocab, 1);
  EXPECT_EQ(error_of(negative), "no error");
}

TEST_F(ExtentsTest, TheFirstOfSeveralTokensOutsideIsOneOfThem) {
  Request request(40, 50);
  for (int64_t row = 0; row < 40; ++row) request.set(row, 7, 1000 + row, 1);
  expect_error(request, {"index 10", "0..99"});
}

}  // namespace
}  // namespace tenon::graph_test
