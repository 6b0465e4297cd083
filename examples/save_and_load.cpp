// A compiled model as a file: saved with its weights, loaded without compiling, by C++ and by C.
// A whole program in C: run_artifact.c.
#include <cstdio>
#include <string>

#include "tenon/c_api.h"
#include "tenon/tenon.h"

namespace {

void save(const std::string& path) {
  tenon::Graph g;
  const tenon::Value x = g.input("x", {{tenon::sym::batch(), 2}, tenon::DType::F32});
  g.set_outputs({{"y", g.matmul(x, g.param("w", {{2, 2}, tenon::DType::F32}))}});
  tenon::CompiledGraph compiled = tenon::Session().compile(g);
  compiled.set_param("w", std::vector<float>{1, 2, 3, 4});  // it is saved too
  compiled.save(path);
}

void run_from_cpp(const std::string& path) {
  tenon::CompiledGraph loaded =
      tenon::CompiledGraph::load(path, {.threads = 1, .check_weights = tenon::WeightCheck::AtLoad});
  const std::vector<float> x = {10, 100};
  const std::vector<float> y = loaded.run({{"x", tenon::view(x, {1, 2})}})[0];
  std::printf("C++: %g %g\n", y[0], y[1]);
}

int run_from_c(const char* path) {
  const tenon_load_options options = {
      .threads = 1, .check_weights = TENON_CHECK_AT_LOAD, .device = "cpu"};
  tenon_model *model = nullptr, *clone = nullptr;
  if (tenon_load(path, &options, &model) != TENON_OK || tenon_clone(model, &clone) != TENON_OK) {
    std::fprintf(stderr, "%s\n", tenon_last_error());
    return 1;
  }
  const float weights[] = {0, 1, 1, 0}, x[] = {10, 100};
  const int64_t square[] = {2, 2}, row[] = {1, 2};
  const tenon_tensor w = {"w", TENON_F32, 2, square, weights};
  const tenon_tensor input = {"x", TENON_F32, 2, row, x};
  tenon_tensor y;
  if (tenon_set_param(clone, &w) == TENON_OK && tenon_run(clone, &input, 1) == TENON_OK &&
      tenon_get_output(clone, 0, &y) == TENON_OK) {
    const auto* values = static_cast<const float*>(y.data);
    std::printf("C, with another w: %g %g\n", values[0], values[1]);
  }
  const tenon_tensor wrong = {"z", TENON_F32, 2, row, x};
  if (tenon_run(model, &wrong, 1) == TENON_USER_ERROR) std::printf("%s\n", tenon_last_error());
  tenon_free(clone);
  tenon_free(model);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: save_and_load FILE\n", stderr);
    return 2;
  }
  save(argv[1]);
  run_from_cpp(argv[1]);
  return run_from_c(argv[1]);
}
