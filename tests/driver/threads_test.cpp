// Compiled graphs in several threads at once, and no allocation by any thread once a shape is
// known.
#include <gtest/gtest.h>

#include <thread>

#include "tests/count_allocations.h"
#include "tests/driver/small_encoder.h"

namespace tenon::graph_test {
namespace {

TEST(Threads, TwoGraphsRunInTwoThreadsAndGiveTheBitsOfOneAfterTheOther) {
  CompiledGraph first = small_encoder(), second = small_encoder();
  Request alone(4, 33);
  first.run_into(alone.inputs, alone.outputs);
  const std::vector<float> expected = alone.hidden();
  const auto serve = [&](CompiledGraph& graph) {
    Request request(4, 33), other(1, 9);
    for (int i = 0; i < 20; ++i) {
      graph.run_into(other.inputs, other.outputs);
      graph.run_into(request.inputs, request.outputs);
      ASSERT_EQ(request.hidden(), expected);
    }
  };
  std::thread thread([&] { serve(second); });
  serve(first);
  thread.join();
}

TEST(Threads, GraphsAreCompiledInSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(3);
  for (std::vector<float>& result : results) {
    threads.emplace_back([&result] {
      CompiledGraph graph = small_encoder();
      Request request(2, 5);
      graph.run_into(request.inputs, request.outputs);
      result = request.hidden();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Threads, NothingIsAllocatedAfterTheFirstRunOfAShape) {
#if !TENON_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "sanitizers bring their own malloc";
#endif
  CompiledGraph graph = small_encoder();
  for (const int threads : {1, usable_threads()}) {
    graph.set_threads(threads);
    std::vector<Request> requests;
    for (const auto& [batch, seq, spare] :
         {std::tuple{1, 1, 0}, {8, 64, 0}, {3, 17, 5}, {64, 40, 0}, {2, 150, 10}}) {
      requests.emplace_back(batch, seq, spare);
    }
    for (Request& request : requests) graph.run_into(request.inputs, request.outputs);
    allocations = 0;
    counting = true;
    for (int round = 0; round < 3; ++round) {
      for (Request& request : requests) graph.run_into(request.inputs, request.outputs);
    }
    counting = false;
    EXPECT_EQ(allocations.load(), 0) << threads;
  }
}

}  // namespace
}  // namespace tenon::graph_test
