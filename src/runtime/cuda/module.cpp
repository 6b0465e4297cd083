// See module.h.
#include "runtime/cuda/module.h"

#include "program/verify.h"
#include "runtime/cuda/argument_block.h"

namespace tenon::runtime::cuda {
namespace {

constexpr int kMostSharedAttribute = 8;       // of cuFuncSetAttribute
constexpr int64_t kSharedUnasked = 48 << 10;  // a block has this much without it
constexpr int kMostThreads = 1024;            // of a block, on every GPU

}  // namespace

Result<std::shared_ptr<const Module>> Module::load(std::shared_ptr<const Gpu> gpu,
                                                   const program::Code& code) {
  if (program::code_digest(code.bytes) != code.digest) {
    return user_error("[{}] the machine code does not match its digest: the artifact is damaged",
                      code.name);
  }
  if (code.threads < 1 || code.threads > kMostThreads)
    return internal_error("[{}] a block of {} threads", code.name, code.threads);
  if (code.shared_bytes < 0 || code.shared_bytes > gpu->most_shared_bytes()) {
    return unsupported_error("[{}] a block needs {} bytes of shared memory, {} can be had",
                             code.name, code.shared_bytes, gpu->most_shared_bytes());
  }
  const Current current(*gpu);
  std::shared_ptr<Module> module(new Module(std::move(gpu)));
  if (Status status = module->find_function(code); !status.ok()) return status.error();
  return std::shared_ptr<const Module>(std::move(module));
}

Status Module::find_function(const program::Code& code) {
  const Driver& driver = gpu_->driver();
  const int loaded = driver.module_load(&module_, code.bytes.data());
  if (loaded != kSuccess) module_ = nullptr;
  if (Status status = driver.check(loaded, "cuModuleLoadData"); !status.ok())
    return user_error("[{}] {}", code.name, status.error().what());
  const int found = driver.module_function(&function_, module_, kKernelName);
  if (Status status = driver.check(found, "cuModuleGetFunction"); !status.ok()) return status;
  threads_ = static_cast<unsigned>(code.threads);
  shared_bytes_ = static_cast<unsigned>(code.shared_bytes);
  if (code.shared_bytes <= kSharedUnasked) return {};
  const int set =
      driver.function_set(function_, kMostSharedAttribute, static_cast<int>(code.shared_bytes));
  return driver.check(set, "cuFuncSetAttribute");
}

Module::~Module() {
  if (!module_) return;
  const Current current(*gpu_);
  gpu_->driver().module_unload(module_);
}

Result<std::shared_ptr<const Modules>> Modules::load(Gpu& gpu, const program::Program& program) {
  auto modules = std::make_shared<Modules>();
  for (const auto& code : program.code) {
    if (!code) return internal_error("[program] a kernel has no code");
    auto module = gpu.module(*code);
    if (!module) return module.error();
    modules->modules_.push_back(std::move(module.value()));
  }
  return std::shared_ptr<const Modules>(std::move(modules));
}

}  // namespace tenon::runtime::cuda
