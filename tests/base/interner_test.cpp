// Interned nodes: equal structure is one node, nodes go when nobody refers to them, in any order
// and at any depth.
#include "base/interner.h"

#include <gtest/gtest.h>

#include <thread>

namespace tenon {
namespace {

std::atomic<int> g_alive{0};

struct Node : Interned<Node> {
  Node(int v, std::vector<Ref<Node>> c) : value(v), children(std::move(c)) { ++g_alive; }
  ~Node() { --g_alive; }

  size_t structural_hash() const {
    size_t hash = static_cast<size_t>(value % 4);  // few values, so that hashes collide
    for (const auto& child : children) hash = hash * 31 + reinterpret_cast<size_t>(child.get());
    return hash;
  }
  bool same_structure(const Node& other) const {
    return value == other.value && children == other.children;
  }
  void take_children(std::vector<Ref<Node>>& out) {
    for (auto& child : children) out.push_back(std::move(child));
  }

  int value;
  std::vector<Ref<Node>> children;
};

Ref<Node> make(Interner<Node>& interner, int value, std::vector<Ref<Node>> children = {}) {
  return interner.intern(std::make_unique<Node>(value, std::move(children)));
}

TEST(Interner, MakesEqualStructureTheSameNode) {
  Interner<Node> interner;
  const auto a = make(interner, 1), b = make(interner, 5);
  EXPECT_EQ(a, make(interner, 1));
  EXPECT_NE(a, b);  // the same hash, another value
  EXPECT_EQ(make(interner, 2, {a, b}), make(interner, 2, {a, b}));
  EXPECT_NE(make(interner, 2, {a, b}), make(interner, 2, {b, a}));
}

TEST(Interner, ForgetsNodesThatNobodyRefersTo) {
  Interner<Node> interner;
  {
    const auto parent = make(interner, 2, {make(interner, 1)});
    EXPECT_EQ(interner.size(), 2u);
  }
  EXPECT_EQ(interner.size(), 0u);
  EXPECT_EQ(g_alive.load(), 0);
}

TEST(Interner, DestroysAChainOfAMillionNodesWithoutRecursion) {
  Interner<Node> interner;
  Ref<Node> chain = make(interner, 0);
  for (int i = 1; i < 1'000'000; ++i) chain = make(interner, i, {std::move(chain)});
  EXPECT_EQ(interner.size(), 1'000'000u);
  chain = {};
  EXPECT_EQ(interner.size(), 0u);
}

TEST(Interner, NodesMayOutliveTheirInterner) {
  Ref<Node> survivor;
  {
    Interner<Node> interner;
    survivor = make(interner, 2, {make(interner, 1)});
  }
  EXPECT_EQ(survivor->children[0]->value, 1);
  survivor = {};
  EXPECT_EQ(g_alive.load(), 0);
}

TEST(Interner, ServesSeveralThreads) {
  Interner<Node> interner;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        const auto leaf = make(interner, i % 7);
        const auto parent = make(interner, 100 + i % 3, {leaf, leaf});
        ASSERT_EQ(make(interner, i % 7), leaf);
        ASSERT_EQ(parent->children[1], leaf);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(interner.size(), 0u);
}

}  // namespace
}  // namespace tenon
