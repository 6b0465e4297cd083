// See nvrtc.h. The functions are declared here, not included: their signatures are NVRTC's ABI.
#include "codegen/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/error.h"
#include "base/knobs.h"

namespace tenon::codegen::cuda {
namespace {

using Program = struct OpaqueProgram*;
using Result = int;  // 0: success

constexpr const char* kNames[] = {"libnvrtc.so.13",
                                  "libnvrtc.so.12",
                                  "libnvrtc.so",
                                  "/usr/local/cuda/lib64/libnvrtc.so.13",
                                  "/usr/local/cuda/lib64/libnvrtc.so.12",
                                  "/usr/local/cuda/lib64/libnvrtc.so"};

// Floats as written: no contraction, no flushing, IEEE division and roots.
constexpr const char* kOptions[] = {"--std=c++17", "-fmad=false", "-ftz=false", "-prec-div=true",
                                    "-prec-sqrt=true"};

struct Nvrtc {
  Result (*create)(Program*, const char* source, const char* name, int headers, const char* const*,
                   const char* const*) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*compile)(Program, int options, const char* const*) = nullptr;
  Result (*log_size)(Program, size_t*) = nullptr;
  Result (*log)(Program, char*) = nullptr;
  Result (*cubin_size)(Program, size_t*) = nullptr;
  Result (*cubin)(Program, char*) = nullptr;
  std::string missing;  // why there is none, else empty

  Nvrtc() {
    const std::string& given = knobs().nvrtc;
    void* library = given.empty() ? nullptr : dlopen(given.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library && !given.empty()) {
      missing = fmt::format("TENON_NVRTC={}: {}", given, dlerror());
      return;
    }
    for (const char* name : kNames) {
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
      missing = fmt::format("no NVRTC is found under {}", fmt::join(kNames, ", "));
      return;
    }
    const auto find = [&](auto& function, const char* name) {
      void* const address = dlsym(library, name);
      if (!address) missing = fmt::format("NVRTC has no function {}", name);
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    };
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc kLoaded;
  return kLoaded;
}

std::string log_of(Program program) {
  size_t size = 0;
  if (nvrtc().log_size(program, &size) != 0 || size == 0) return {};
  std::string text(size, '\0');
  nvrtc().log(program, text.data());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

bool has_nvrtc() { return nvrtc().missing.empty(); }

std::string nvrtc_options() { return fmt::format("{}", fmt::join(kOptions, " ")); }

std::vector<std::byte> compile_cuda(const std::string& source, int arch,
                                    const std::string& kernel) {
  const Nvrtc& library = nvrtc();
  if (!library.missing.empty()) throw unsupported_error("[cuda] {}", library.missing);
  Program program = nullptr;
  if (library.create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
    throw internal_error("kernel {}: NVRTC takes no source", kernel);
  const auto destroy = [&](Program* p) { library.destroy(p); };
  const std::unique_ptr<Program, decltype(destroy)> owner(&program, destroy);
  const std::string target = fmt::format("--gpu-architecture=sm_{}", arch);
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(target.c_str());
  if (library.compile(program, static_cast<int>(options.size()), options.data()) != 0) {
    const std::string log = log_of(program);
    if (log.find("--gpu-architecture") != std::string::npos)
      throw unsupported_error("[cuda] this NVRTC has no code for architecture {}", arch);
    throw internal_error("kernel {}: NVRTC refuses its source:\n{}", kernel, log);
  }
  size_t size = 0;
  std::vector<std::byte> cubin;
  if (library.cubin_size(program, &size) == 0) cubin.resize(size);
  if (size == 0 || library.cubin(program, reinterpret_cast<char*>(cubin.data())) != 0)
    throw internal_error("kernel {}: NVRTC gives no code for sm_{}", kernel, arch);
  return cubin;
}

}  // namespace tenon::codegen::cuda
