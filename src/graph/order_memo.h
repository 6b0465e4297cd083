// The topological order of a graph, found once: passes ask for it several times over.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tenon::graph {

class Node;

// Copies share what was found; several threads may ask one graph.
class OrderMemo {
 public:
  using Order = std::shared_ptr<const std::vector<const Node*>>;

  OrderMemo() = default;
  OrderMemo(const OrderMemo& other) : order_(other.get()) {}
  OrderMemo& operator=(const OrderMemo& other) {
    if (this != &other) set(other.get());
    return *this;
  }

  Order get() const {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  void set(Order order) const {
    const std::lock_guard lock(mutex_);
    order_ = std::move(order);
  }
  void reset() { set(nullptr); }

 private:
  mutable std::mutex mutex_;
  mutable Order order_;
};

}  // namespace tenon::graph
