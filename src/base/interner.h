// Interner: makes structurally equal nodes the same node, so that equality is pointer equality. It
// belongs to a context, not to the process. Its table is weak: a node lives as long as a Ref to it
// (from outside or from a parent) does, and destruction is iterative, so a chain of any length can
// be dropped. Safe to use from several threads.
//
// A node type N derives from Interned<N> and has
//   size_t structural_hash() const;               of its own fields and its children's addresses
//   bool same_structure(const N& other) const;    the same fields and the same children
//   void take_children(std::vector<Ref<N>>& out); moves its children out, when the node goes
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon {

template <typename Node>
class Interner;
template <typename Node>
class InternTable;

// What an interned node carries: its count of Refs, its hash and the table that it must leave at
// its end.
template <typename Node>
class Interned {
 public:
  Interned() = default;
  Interned(const Interned&) = delete;
  Interned& operator=(const Interned&) = delete;
  size_t hash() const { return hash_; }

 private:
  template <typename>
  friend class Ref;
  friend class InternTable<Node>;

  bool retain_if_alive() const {
    uint32_t count = refs_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (refs_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  bool release() const {
    return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }  // it was the last

  mutable std::atomic<uint32_t> refs_{0};
  size_t hash_ = 0;
  InternTable<Node>* table_ = nullptr;
};

// A counted reference to an interned node. Equality is identity.
template <typename Node>
class Ref {
 public:
  Ref() = default;
  explicit Ref(const Node* node) : node_(node) {
    if (node_) node_->retain();
  }
  Ref(const Ref& other) : Ref(other.node_) {}
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref() {
    if (node_ && node_->release()) node_->table_->destroy(node_);
  }

  const Node* get() const { return node_; }
  const Node& operator*() const { return *node_; }
  const Node* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Ref&) const = default;

 private:
  friend class InternTable<Node>;
  struct Adopt {};
  Ref(const Node* node, Adopt) : node_(node) {}  // the count already includes this one

  const Node* node_ = nullptr;
};

// The weak table. It goes when its interner and its last node have gone, in either order.
template <typename Node>
class InternTable {
 public:
  Ref<Node> intern(std::unique_ptr<Node> candidate) {
    const size_t hash = candidate->structural_hash();
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = nodes_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      // A node whose count reached zero is about to leave the table and cannot be brought back.
      if (it->second->same_structure(*candidate) && it->second->retain_if_alive()) {
        return Ref<Node>(it->second, typename Ref<Node>::Adopt{});
      }
    }
    candidate->hash_ = hash;
    candidate->table_ = this;
    nodes_.emplace(hash, candidate.get());
    return Ref<Node>(candidate.release());
  }

  void destroy(const Node* node) {
    std::vector<const Node*> dying{node};
    std::vector<Ref<Node>> children;
    bool last = false;
    while (!dying.empty()) {
      std::unique_ptr<Node> owned(const_cast<Node*>(dying.back()));
      dying.pop_back();
      last = remove(owned.get());
      owned->take_children(children);
      for (Ref<Node>& child : children) {
        const Node* released = std::exchange(child.node_, nullptr);
        if (released && released->release()) dying.push_back(released);
      }
      children.clear();
    }
    if (last) delete this;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }

  void orphan() {
    bool empty;
    {
      const std::lock_guard lock(mutex_);
      orphaned_ = true;
      empty = nodes_.empty();
    }
    if (empty) delete this;
  }

 private:
  bool remove(const Node* node) {  // whether nothing needs the table any more
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = nodes_.equal_range(node->hash());
    for (auto it = begin; it != end; ++it) {
      if (it->second != node) continue;
      nodes_.erase(it);
      break;
    }
    return orphaned_ && nodes_.empty();
  }

  mutable std::mutex mutex_;
  std::unordered_multimap<size_t, const Node*> nodes_;
  bool orphaned_ = false;
};

template <typename Node>
class Interner {
 public:
  Interner() = default;
  ~Interner() { table_->orphan(); }
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  // The node equal to the candidate: an older one, or the candidate itself.
  Ref<Node> intern(std::unique_ptr<Node> candidate) { return table_->intern(std::move(candidate)); }
  size_t size() const { return table_->size(); }  // nodes alive

 private:
  InternTable<Node>* table_ = new InternTable<Node>;
};

}  // namespace tenon
