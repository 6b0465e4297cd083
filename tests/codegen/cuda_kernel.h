// Kernels in CUDA C++, checked without a GPU: the generated function runs on the host, a context
// per thread, and must give the bits of the interpreter; and NVRTC, where there is one, must take
// it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "codegen/cuda/emitter.h"
#include "codegen/cuda/generate.h"
#include "codegen/cuda/nvrtc.h"
#include "codegen/cuda/prelude.h"
#include "tenon/dtype.h"

namespace tenon::cuda_test {

// One global buffer's bytes.
using Bytes = std::vector<std::byte>;

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return Bytes(begin, begin + values.size() * sizeof(T));
}

class HostKernel {
 public:
  explicit HostKernel(const kernel::Kernel& kernel) : kernel_(kernel) {
    static int count = 0;
    const auto folder = std::filesystem::temp_directory_path();
    const std::string stem = (folder / fmt::format("tenon_cuda_{}_{}", getpid(), ++count)).string();
    const std::string source = stem + ".cpp", library = stem + ".so", log = stem + ".log";
    std::ofstream(source) << "#include \"" TENON_SOURCE_DIR "/tests/codegen/cuda_on_host.inc\"\n"
                          << codegen::cuda::scalar_prelude()
                          << codegen::cuda::Emitter(kernel).emit();
    const std::string command = fmt::format(
        "c++ -std=c++17 -O1 -w -shared -fPIC -ffp-contract=off -fno-strict-aliasing {} -o {} 2>{}",
        source, library, log);
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a test's own text
    std::ifstream messages(log);
    const std::string text{std::istreambuf_iterator<char>(messages), {}};
    if (status == 0) handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << text << codegen::cuda::Emitter(kernel).emit();
    if (!std::getenv("TENON_KEEP_CUDA")) std::filesystem::remove(source);
    std::filesystem::remove(library);
    std::filesystem::remove(log);
  }
  ~HostKernel() {
    if (handle_) dlclose(handle_);
  }
  HostKernel(const HostKernel&) = delete;
  HostKernel& operator=(const HostKernel&) = delete;

  // `buffers`: one per global buffer. `blocks` of any number. The fault words: 4.
  void run(std::vector<Bytes>& buffers, const std::vector<int64_t>& dims, unsigned blocks,
           bool backwards, uint64_t* fault) const {
    if (!handle_) return;
    const auto value = [&](const Dim& d) {
      return *d.evaluate([&](const Symbol& symbol) -> std::optional<int64_t> {
        for (size_t i = 0; i < dims.size(); ++i) {
          if (kernel_.dims[i] == symbol) return dims[i];
        }
        return std::nullopt;
      });
    };
    const auto scratch_bytes = static_cast<uint64_t>(value(kernel_.scratch_bytes()));
    Bytes scratch(scratch_bytes * blocks + 1, std::byte{0xff});
    std::vector<uint64_t> words = {static_cast<uint64_t>(value(kernel_.grid())),
                                   reinterpret_cast<uint64_t>(scratch.data()), scratch_bytes,
                                   reinterpret_cast<uint64_t>(fault), 7};
    for (Bytes& buffer : buffers) words.push_back(reinterpret_cast<uint64_t>(buffer.data()));
    for (const int64_t dim : dims) words.push_back(static_cast<uint64_t>(dim));
    const auto entry =
        reinterpret_cast<void (*)(const uint64_t*, unsigned, unsigned, bool, float (*)(uint16_t),
                                  uint16_t (*)(float), uint16_t (*)(float))>(
            dlsym(handle_, "run_on_host"));
    entry(words.data(), blocks, static_cast<unsigned>(kernel_.block_threads()), backwards,
          f16_to_f32, f32_to_f16, f32_to_bf16);
  }

 private:
  const kernel::Kernel& kernel_;
  void* handle_ = nullptr;
};

// The interpreter's results; `buffers` as for HostKernel::run.
inline void interpret(const kernel::Kernel& kernel, std::vector<Bytes>& buffers,
                      const std::vector<int64_t>& dims, int64_t* fault = nullptr) {
  std::vector<void*> pointers;
  size_t next = 0;
  for (const kernel::Buffer& buffer : kernel.buffers) {
    const bool is_global = buffer.storage == kernel::Storage::Global;
    pointers.push_back(is_global ? buffers[next++].data() : nullptr);
  }
  kernel::interpret(kernel, pointers, dims, fault);
}

inline bool is_taken_by_nvrtc(const kernel::Kernel& kernel) {
  if (!codegen::cuda::has_nvrtc()) return true;
  for (const int arch : {80, 90}) {
    try {
      if (codegen::cuda::generate(kernel, arch)->bytes.empty()) return false;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << codegen::cuda::Emitter(kernel).emit();
      return false;
    }
  }
  return true;
}

// The same bits as the interpreter, with few blocks and many, in either order of the threads.
inline void expect_same(const kernel::Kernel& kernel, const std::vector<Bytes>& buffers,
                        const std::vector<std::vector<int64_t>>& all_dims = {{}}) {
  kernel::verify(kernel);
  const HostKernel host(kernel);
  for (const auto& dims : all_dims) {
    std::vector<Bytes> expected = buffers;
    interpret(kernel, expected, dims);
    for (const unsigned blocks : {1u, 2u, 5u}) {
      std::vector<Bytes> actual = buffers;
      uint64_t fault[4] = {};
      host.run(actual, dims, blocks, blocks == 2, fault);
      for (size_t i = 0; i < buffers.size(); ++i) {
        EXPECT_TRUE(actual[i] == expected[i])
            << kernel.name << ": buffer " << i << " with " << blocks << " blocks";
      }
    }
  }
  EXPECT_TRUE(is_taken_by_nvrtc(kernel));
}

}  // namespace tenon::cuda_test
