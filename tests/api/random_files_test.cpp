// Artifacts and the C API under calls that make no sense (chance.h): files that are saved, cut,
// changed and loaded, from C++ and from C.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tenon/c_api.h"
#include "tests/api/chance.h"

namespace tenon {
namespace {

class FilePlayer : public Chance {
 public:
  using Chance::Chance;
  FilePlayer(const FilePlayer&) = delete;
  ~FilePlayer() {
    for (tenon_model* model : models_) tenon_free(model);
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + ".weights");
  }

  void act() {
    using Player = FilePlayer;
    static constexpr void (Player::* kActions[])() = {
        &Player::save,      &Player::save,  &Player::change, &Player::load,      &Player::load_in_c,
        &Player::load_in_c, &Player::clone, &Player::drop,   &Player::describe,  &Player::set_param,
        &Player::set_param, &Player::run,   &Player::run,    &Player::get_output};
    (this->*one_of(kActions))();
  }

 private:
  // A status is an Error: the loop counts both alike.
  static void check(tenon_status status) {
    if (status == TENON_OK) return;
    throw Error(status == TENON_USER_ERROR          ? ErrorKind::User
                : status == TENON_UNSUPPORTED_ERROR ? ErrorKind::Unsupported
                                                    : ErrorKind::Internal,
                tenon_last_error());
  }

  void save() {
    Graph g;
    const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
    g.set_outputs({{"y", g.matmul(x, g.param("w", {{4, 4}, DType::F32}))}});
    std::filesystem::remove(path_);  // models have it mapped
    CompiledGraph compiled = Session().compile(g);
    if (often()) compiled.set_param("w", std::vector<float>(16, 0.5f));
    const auto place = often() ? WeightsPlace::Inside : WeightsPlace::Beside;
    compiled.save(seldom() ? "/no/such/folder/file" : path_, {.weights = place});
  }
  // Another file by the same name, cut or changed.
  void change() {
    const std::string path = often() ? path_ : path_ + ".weights";
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(path);
    if (bytes.empty()) return;
    if (below(3) == 0) {
      bytes.resize(below(bytes.size()));
    } else {
      bytes[below(bytes.size())] = static_cast<char>(below(256));
    }
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void load() {
    CompiledGraph graph = CompiledGraph::load(
        seldom() ? name() : path_,
        {.device = seldom() ? std::optional(Device::Cuda(small())) : std::nullopt,
         .threads = often() ? 0 : small()});
    graph.run(inputs());
  }

  tenon_model* model() { return models_.empty() || seldom() ? nullptr : one_of(models_); }
  void load_in_c() {
    const std::string device = often() ? "cpu" : name();
    const tenon_load_options options = {.threads = small(),
                                        .check_weights = static_cast<tenon_weight_check>(below(4)),
                                        .device = seldom() ? device.c_str() : nullptr};
    tenon_model* loaded = nullptr;
    check(tenon_load(seldom() ? nullptr : path_.c_str(), often() ? nullptr : &options,
                     seldom() ? nullptr : &loaded));
    models_.push_back(loaded);
  }
  void clone() {
    tenon_model* other = nullptr;
    check(tenon_clone(model(), seldom() ? nullptr : &other));
    models_.push_back(other);
  }
  void drop() {
    if (models_.empty()) return tenon_free(nullptr);
    std::swap(one_of(models_), models_.back());
    tenon_free(models_.back());
    models_.pop_back();
  }
  void describe() {
    tenon_tensor tensor;
    tenon_input_count(model()), tenon_output_count(model());
    check(tenon_describe_input(model(), small(), seldom() ? nullptr : &tensor));
    check(tenon_describe_output(model(), 0, &tensor));
  }

  // `extents` and data are valid for what the tensor says.
  tenon_tensor tensor(const char* usual) {
    TensorView data = view();
    if (data.elements >= 0) data.shape = {data.elements};
    tenon_tensor result = {};
    if (!seldom()) result.name = often() ? usual : "\xff";
    result.dtype = seldom() ? static_cast<tenon_dtype>(below(32))
                            : static_cast<tenon_dtype>(info(data.dtype).onnx);
    if (result.dtype != info(data.dtype).onnx) return result;  // no memory: its size is not known
    extents_.push_back(std::make_unique<std::vector<int64_t>>(data.shape));
    result.rank = seldom() ? -small() : static_cast<int>(data.shape.size());
    if (result.rank > static_cast<int>(data.shape.size())) result.rank = 0;
    result.extents = extents_.back()->data();
    result.data = data.data;
    return result;
  }
  void set_param() {
    const tenon_tensor value = tensor("w");
    check(tenon_set_param(model(), seldom() ? nullptr : &value));
  }
  void run() {
    std::vector<tenon_tensor> inputs(often() ? 1 : below(3));
    for (tenon_tensor& input : inputs) input = tensor("x");
    const int count = seldom() ? -small() : static_cast<int>(inputs.size());
    if (count > static_cast<int>(inputs.size())) return;
    check(tenon_run(model(), seldom() ? nullptr : inputs.data(), count));
  }
  void get_output() {
    tenon_tensor y;
    check(tenon_get_output(model(), often() ? 0 : small(), seldom() ? nullptr : &y));
    const auto* bytes = static_cast<const std::byte*>(y.data);
    int64_t size = 4;
    for (int axis = 0; axis < y.rank; ++axis) size *= y.extents[axis];
    for (int64_t i = 0; i < size; ++i) sum_ += std::to_integer<int>(bytes[i]);
  }

  const std::string path_ = std::filesystem::path(testing::TempDir()) /
                            ("tenon_random_files_" + std::to_string(getpid()));
  int sum_ = 0;
  std::vector<tenon_model*> models_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> extents_;
};

TEST(RandomCalls, OfFilesAreDoneOrRefused) { expect_done_or_refused<FilePlayer>(80); }

}  // namespace
}  // namespace tenon
