// ONNX Runtime as a contender of bench/peers, by the C API of the library in its Python package,
// which brings no headers along: the functions are declared here, each with its place in the table
// that the library gives. Places never change; new functions are added at the table's end.
//
//   set spinning 0|1      whether threads wait actively for the next piece of work
//   set optimization 0|1|2|99
#include "worker.h"

namespace {

using contest::Job;
using contest::Tensor;

struct Status;
struct Env;
struct SessionOptions;
struct Session;
struct MemoryInfo;
struct Value;

extern "C" struct ApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*get_version)();
};
extern "C" const ApiBase* OrtGetApiBase();

constexpr uint32_t kApiVersion = 16;

template <size_t place, typename... Arguments>
Status* raw_call(Arguments... arguments) {
  static const void* const* const table = OrtGetApiBase()->get_api(kApiVersion);
  return reinterpret_cast<Status* (*)(Arguments...)>(table[place])(arguments...);
}

const char* message_of(Status* status) {
  static const void* const* const table = OrtGetApiBase()->get_api(kApiVersion);
  return reinterpret_cast<const char* (*)(Status*)>(table[2])(status);
}

void check(Status* status) {
  if (status) throw std::runtime_error(std::string("onnxruntime: ") + message_of(status));
}

void create_env(int severity, const char* id, Env** env) { check(raw_call<3>(severity, id, env)); }
void create_session(Env* env, const char* path, SessionOptions* options, Session** session) {
  check(raw_call<7>(env, path, options, session));
}
void run_session(Session* session, const char* const* input_names, const Value* const* inputs,
                 size_t input_count, const char* const* output_names, size_t output_count,
                 Value** outputs) {
  check(raw_call<9>(session, static_cast<const void*>(nullptr), input_names, inputs, input_count,
                    output_names, output_count, outputs));
}
void create_options(SessionOptions** options) { check(raw_call<10>(options)); }
void set_optimization(SessionOptions* options, int level) { check(raw_call<23>(options, level)); }
void set_intra_threads(SessionOptions* options, int count) { check(raw_call<24>(options, count)); }
void set_inter_threads(SessionOptions* options, int count) { check(raw_call<25>(options, count)); }
void create_tensor(const MemoryInfo* info, void* data, size_t bytes, const int64_t* shape,
                   size_t axes, int type, Value** value) {
  check(raw_call<49>(info, data, bytes, shape, axes, type, value));
}
void create_cpu_info(int allocator, int memory, MemoryInfo** info) {
  check(raw_call<69>(allocator, memory, info));
}
void add_config(SessionOptions* options, const char* key, const char* value) {
  check(raw_call<130>(options, key, value));
}

constexpr int kWarning = 2, kArenaAllocator = 1, kDefaultMemory = 0;
constexpr int kFloat = 1, kInt64 = 7;  // ONNXTensorElementDataType

class OnnxRuntime : public contest::Contender {
 public:
  explicit OnnxRuntime(const Job& job) {
    Env* env = nullptr;
    create_env(kWarning + 1, "contest", &env);
    create_session(env, job.model.c_str(), options_of(job), &session_);
    MemoryInfo* info = nullptr;
    create_cpu_info(kArenaAllocator, kDefaultMemory, &info);
    for (const Tensor& each : job.inputs) add(info, each, input_names_, inputs_);
    for (const Tensor& each : job.outputs) add(info, each, output_names_, outputs_);
  }

  std::string version() const override { return OrtGetApiBase()->get_version(); }

  void run() override {
    run_session(session_, input_names_.data(), inputs_.data(), inputs_.size(), output_names_.data(),
                outputs_.size(), outputs_.data());
  }

 private:
  static SessionOptions* options_of(const Job& job) {
    SessionOptions* options = nullptr;
    create_options(&options);
    set_intra_threads(options, job.threads);
    set_inter_threads(options, 1);
    set_optimization(options, std::stoi(job.setting("optimization", "99")));
    add_config(options, "session.intra_op.allow_spinning", job.setting("spinning", "1").c_str());
    return options;
  }

  static void add(const MemoryInfo* info, const Tensor& tensor, std::vector<const char*>& names,
                  std::vector<Value*>& values) {
    names.push_back(tensor.name.c_str());
    create_tensor(info, tensor.data(), tensor.bytes(), tensor.shape.data(), tensor.shape.size(),
                  tensor.type == "i64" ? kInt64 : kFloat, &values.emplace_back());
  }

  Session* session_ = nullptr;  // until the process ends, with everything else
  std::vector<const char*> input_names_, output_names_;
  std::vector<Value*> inputs_, outputs_;
};

std::unique_ptr<contest::Contender> load(const Job& job) {
  return std::make_unique<OnnxRuntime>(job);
}

}  // namespace

int main() { return contest::serve(load); }
