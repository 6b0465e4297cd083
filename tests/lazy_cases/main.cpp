// Runs the cases that NumPy answered with the code that a user would write, each with the shapes it
// has and, where it has axes that may vary, with variables for them. Many are realized together;
// when that fails, one by one, so that the error names its case.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "tests/lazy_cases/ops.h"

namespace tenon::cases {

const OpRow& find_op(std::string_view name) {
  for (const auto ops : {elementwise_ops(), movement_ops(), reduction_ops(), product_ops(),
                         position_ops(), creation_ops()}) {
    for (const OpRow& op : ops) {
      if (op.name == name) return op;
    }
  }
  throw user_error("[{}] no row of the tables has this name", name);
}

namespace {

constexpr size_t kTogether = 24;
constexpr size_t kLeast = 400;  // a file of fewer was not written to its end

struct Running {
  const Case* of = nullptr;
  bool symbolic = false;
  Results results = std::vector<Tensor>{};
};

int failures = 0;
void fail(const Running& run, const std::string& why) {
  fmt::print("FAILED {} ({}): {}\n", run.of->name, run.symbolic ? "symbolic" : "concrete", why);
  ++failures;
}

// Equal extents of a case are the same variable: those that must agree do.
Extents shape_of(const Array& array, bool symbolic) {
  Extents shape;
  for (size_t i = 0; i < array.extents.size(); ++i) {
    const int64_t extent = array.extents[i];
    if (symbolic && array.may_vary[i]) {
      shape.push_back(Variable(fmt::format("d{}", extent), extent > 0, 128).bind(extent));
    } else {
      shape.emplace_back(extent);
    }
  }
  return shape;
}

bool may_vary(const Case& c) {
  for (const Array& input : c.inputs) {
    for (const bool axis : input.may_vary) {
      if (axis) return true;
    }
  }
  return false;
}

Results written(const Case& c, bool symbolic) {
  Arguments a;
  a.from = &c;
  for (const Array& input : c.inputs)
    a.all.push_back(Tensor::from_bytes(input.bytes, input.dtype, shape_of(input, symbolic)));
  Tensor* names[] = {&a.x, &a.y, &a.z};
  for (size_t i = 0; i < a.all.size() && i < std::size(names); ++i) *names[i] = a.all[i];
  if (!c.inputs.empty()) a.extents = shape_of(c.inputs[0], symbolic);
  return find_op(c.op).write(a);
}

void check(const Running& run) {
  const auto& expected = run.of->outputs;
  if (expected.size() != run.results.size())
    return fail(run, fmt::format("{} results, not {}", run.results.size(), expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const OwnedTensor owned = run.results[i].to_owned();
    const Array got{owned.dtype, owned.shape, {}, owned.bytes};
    const std::string why = difference(expected[i], got, run.of->absolute, run.of->relative);
    if (!why.empty()) return fail(run, fmt::format("result {}: {}", i, why));
  }
}

void realize_and_check(const std::vector<Running>& runs) {
  std::vector<Tensor> tensors;
  for (const Running& run : runs)
    tensors.insert(tensors.end(), run.results.begin(), run.results.end());
  try {
    realize_batch(tensors);
  } catch (const std::exception& error) {
    if (runs.size() == 1) return fail(runs[0], error.what());
    for (const Running& run : runs) realize_and_check({run});
    return;
  }
  for (const Running& run : runs) check(run);
}

int run_all(const std::vector<Case>& cases, bool symbolic) {
  int count = 0;
  std::vector<Running> together;
  for (const Case& c : cases) {
    if (symbolic && !may_vary(c)) continue;
    ++count;
    Running run{&c, symbolic};
    try {
      run.results = written(c, symbolic);
    } catch (const std::exception& error) {
      fail(run, error.what());
      continue;
    }
    together.push_back(std::move(run));
    if (together.size() < kTogether) continue;
    realize_and_check(together);
    together.clear();
  }
  realize_and_check(together);
  return count;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// `only`: cases whose names contain it.
int run_file(const std::string& path, const std::string& only) {
  std::vector<Case> cases = read_cases(path);
  if (cases.size() < kLeast)
    throw user_error("[lazy_cases] {} has {} cases only", path, cases.size());
  std::erase_if(cases, [&](const Case& c) { return c.name.find(only) == std::string::npos; });
  const double begin = seconds();
  const int concrete = run_all(cases, false), symbolic = run_all(cases, true);
  fmt::print("{} cases, {} of them with symbolic shapes too: {} failures, {:.1f} s\n", concrete,
             symbolic, failures, seconds() - begin);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tenon::cases

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fputs("usage: lazy_cases FILE [PART OF A NAME]\n", stderr);
    return 2;
  }
  try {
    return tenon::cases::run_file(argv[1], argc == 3 ? argv[2] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lazy_cases: %s\n", error.what());
    return 1;
  }
}
