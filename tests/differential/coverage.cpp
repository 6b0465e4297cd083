// See coverage.h. What a schedule did is read off the kernel that it made.
#include "tests/differential/coverage.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::differential {

namespace {

using namespace kernel;

// What no random graph has.
struct Exception {
  const char *what, *why;
};
constexpr Exception kExceptions[] = {
    {"storage shared", "of GPUs"},
};

template <typename T>
bool has_statement(const Kernel& k, const std::function<bool(const T&)>& wanted) {
  bool found = false;
  for_each(k.body, [&](const Stmt& stmt) {
    if (const T* node = stmt.as<T>()) found = found || wanted(*node);
  });
  return found;
}

bool has_loop(const Kernel& k, LoopKind kind) {
  return has_statement<Loop>(k, [&](const Loop& l) { return l.kind == kind; });
}
bool has_buffer(const Kernel& k, const std::function<bool(const Buffer&)>& wanted) {
  return std::ranges::any_of(k.buffers, wanted);
}
bool has_storage(const Kernel& k, Storage storage) {
  return has_buffer(k, [&](const Buffer& b) { return b.storage == storage; });
}
bool is_local_named(const Buffer& b, std::string_view stem) {
  return b.storage != Storage::Global && b.name.starts_with(stem);
}
bool has_local(const Kernel& k, std::string_view stem) {
  return has_buffer(k, [&](const Buffer& b) { return is_local_named(b, stem); });
}
bool has_expr(const Kernel& k, const std::function<bool(const Expr&)>& wanted) {
  bool found = false;
  const auto look = [&](const ExprRef& root) {
    for_each(root, [&](const Expr& e) { found = found || wanted(e); });
  };
  for_each(k.body, [&](const Stmt& stmt) {
    if (const auto* s = stmt.as<Store>()) look(s->value);
    if (const auto* l = stmt.as<Let>()) look(l->value);
  });
  return found;
}
bool has_mma(const Kernel& k) {
  return has_statement<Mma>(k, [](const Mma&) { return true; });
}
// The first statement of a work item.
const Stmt* first_of_item(const Kernel& k) {
  const auto* items = k.body.empty() ? nullptr : k.body[0].as<Loop>();
  return items && !items->body->empty() ? &(*items->body)[0] : nullptr;
}
// Panels outside, the ladder inside; in a tile the ladder is what is outside.
bool is_contraction(const Kernel& k) {
  const Stmt* first = first_of_item(k);
  const auto* panels = first ? first->as<Loop>() : nullptr;
  if (!has_mma(k) || !panels || panels->kind != LoopKind::Serial) return false;
  const auto* steps = panels->body->empty() ? nullptr : (*panels->body)[0].as<Loop>();
  return steps && steps->kind == LoopKind::Ladder;
}
bool is_window(const Kernel& k) { return has_mma(k) && has_local(k, "columns"); }
bool is_rows(const Kernel& k) {
  const Stmt* first = first_of_item(k);
  const auto* rows = first ? first->as<Loop>() : nullptr;
  return !has_mma(k) && rows && rows->kind == LoopKind::Serial && rows->symbol.name()[0] == 'r';
}
bool is_flat(const Kernel& k) { return !has_mma(k) && !has_local(k, "block") && !is_rows(k); }

struct Feature {
  const char* what;
  bool (*is_in)(const Kernel&);
};
constexpr Feature kFeatures[] = {
    {"loop serial", [](const Kernel& k) { return has_loop(k, LoopKind::Serial); }},
    {"loop thread", [](const Kernel& k) { return has_loop(k, LoopKind::Thread); }},
    {"loop ladder", [](const Kernel& k) { return has_loop(k, LoopKind::Ladder); }},
    {"loop unroll", [](const Kernel& k) { return has_loop(k, LoopKind::Unroll); }},
    {"loop vector", [](const Kernel& k) { return has_loop(k, LoopKind::Vector); }},
    {"storage scratch", [](const Kernel& k) { return has_storage(k, Storage::Scratch); }},
    {"storage stack", [](const Kernel& k) { return has_storage(k, Storage::Stack); }},
    {"storage register", [](const Kernel& k) { return has_storage(k, Storage::Register); }},
    {"storage shared", [](const Kernel& k) { return has_storage(k, Storage::Shared); }},
    {"let checked",
     [](const Kernel& k) {
       return has_statement<Let>(k, [](const Let& l) { return l.is_checked(); });
     }},
    {"let known",
     [](const Kernel& k) {
       return has_statement<Let>(k, [](const Let& l) { return !l.is_checked(); });
     }},
    {"let guarded",
     [](const Kernel& k) {
       return has_statement<Let>(k, [](const Let& l) { return !l.guards.empty(); });
     }},
    {"specialize",
     [](const Kernel& k) {
       return has_statement<Specialize>(k, [](const Specialize&) { return true; });
     }},
    {"mma", has_mma},
    {"prefetch",
     [](const Kernel& k) {
       return has_statement<Prefetch>(k, [](const Prefetch&) { return true; });
     }},
    {"guarded load",
     [](const Kernel& k) {
       return has_expr(k, [](const Expr& e) { return e.op == Op::Load && !e.guards.empty(); });
     }},
    {"guarded store",
     [](const Kernel& k) {
       return has_statement<Store>(k, [](const Store& s) { return !s.guards.empty(); });
     }},
    {"pack once",
     [](const Kernel& k) {
       return has_buffer(k, [](const Buffer& b) {
         return b.source == Source::Packed && b.written && b.constant;
       });
     }},
    {"pack per run",
     [](const Kernel& k) {
       return has_buffer(k, [](const Buffer& b) {
         return b.source == Source::Packed && b.written && !b.constant;
       });
     }},
    {"staged panels", [](const Kernel& k) { return has_local(k, "panels"); }},
    {"lane reduction",
     [](const Kernel& k) { return has_expr(k, [](const Expr& e) { return has(e.op, kLanes); }); }},
    {"chunked reduction", [](const Kernel& k) { return has_local(k, "total"); }},
    {"schedule contraction", is_contraction},
    {"schedule windows", is_window},
    {"schedule tiles",
     [](const Kernel& k) { return has_mma(k) && !is_contraction(k) && !is_window(k); }},
    {"schedule transpose", [](const Kernel& k) { return !has_mma(k) && has_local(k, "block"); }},
    {"schedule columns", [](const Kernel& k) { return !has_mma(k) && has_local(k, "sums"); }},
    {"schedule rows", is_rows},
    {"schedule flat", is_flat},
};

}  // namespace

Coverage::Coverage() {
  for (const graph::OpInfo& op : graph::kOps) counts_[fmt::format("op {}", op.text)] = 0;
  for (const DTypeInfo& dtype : kDTypes) counts_[fmt::format("dtype {}", dtype.name)] = 0;
  for (const Feature& feature : kFeatures) counts_[feature.what] = 0;
}

void Coverage::add(const std::string& what) { ++counts_.at(what); }

void Coverage::count(const graph::Graph& graph) {
  for (const graph::Node* node : graph.topological()) {
    add(fmt::format("op {}", graph::info(node->op()).text));
    add(fmt::format("dtype {}", tenon::to_string(node->types()[0].dtype)));
    for (const auto& [name, value] : node->attributes().items()) {
      if (const auto* body = std::get_if<graph::Subgraph>(&value)) count(**body);
    }
  }
}

void Coverage::count(const Kernel& kernel) {
  for (const Feature& feature : kFeatures) {
    if (feature.is_in(kernel)) add(feature.what);
  }
}

std::vector<std::string> Coverage::below(int64_t least) const {
  std::vector<std::string> list;
  for (const auto& [what, count] : counts_) {
    const auto is_this = [&](const Exception& e) { return what == e.what; };
    if (count >= least || std::ranges::any_of(kExceptions, is_this)) continue;
    list.push_back(fmt::format("{}: {}", what, count));
  }
  return list;
}

std::string Coverage::to_string() const {
  std::string text;
  for (const auto& [what, count] : counts_) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", what, count);
  }
  return text;
}

}  // namespace tenon::differential
