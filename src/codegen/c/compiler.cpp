// See compiler.h.
#include "codegen/c/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"
#include "codegen/c/temporary_folder.h"

extern char** environ;

namespace tenon::codegen::c {
namespace {

// Levels, as the generator through LLVM has them.
constexpr const char* kLevels[] = {"-march=x86-64-v3", "-march=x86-64-v4"};  // by Isa

// Floats as written, integers wrap, nothing is called and nothing but code and constants made.
constexpr const char* kOptions[] = {"-x",
                                    "c",
                                    "-std=gnu11",
                                    "-c",
                                    "-pipe",
                                    "-w",
                                    "-O2",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fwrapv",
                                    "-fno-strict-aliasing",
                                    "-ffreestanding",
                                    "-fno-builtin",
                                    "-mprfchw",
                                    "-fno-tree-vectorize",
                                    "-fno-tree-slp-vectorize",
                                    "-mprefer-vector-width=512",
                                    "-fPIC",
                                    "-fvisibility=hidden",
                                    "-fno-plt",
                                    "-fno-jump-tables",
                                    "-fno-stack-protector",
                                    "-fcf-protection=none",
                                    "-fno-asynchronous-unwind-tables",
                                    "-fomit-frame-pointer",
                                    "-g0"};

constexpr size_t kLongestMessage = 2000;

template <typename Chars>
Chars contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* begin = reinterpret_cast<const typename Chars::value_type*>(text.data());
  return Chars(begin, begin + text.size());
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Runs a program with its output in a file; how it ended, empty for well.
std::string run(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int problem =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return fmt::format("cannot be run: {}", std::strerror(problem));
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno == ECHILD) return {};  // a host that ignores its children: the object file will tell
    if (errno != EINTR) return fmt::format("cannot be waited for: {}", std::strerror(errno));
  }
  if (WIFSIGNALED(status)) return fmt::format("ended with signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("failed ({})", WEXITSTATUS(status));
}

}  // namespace

std::vector<std::byte> compile_source(const std::string& compiler, const std::string& source,
                                      Isa isa, const std::string& kernel) {
  const TemporaryFolder folder;
  const std::string input = folder.file("kernel.c"), output = folder.file("kernel.o"),
                    log = folder.file("log");
  std::ofstream file(input, std::ios::binary);
  file << source;
  file.close();
  if (!file) throw user_error("[codegen c] cannot write {}: {}", input, std::strerror(errno));
  std::vector<std::string> command = words(compiler);
  if (command.empty()) throw user_error("[codegen c] TENON_CC names no compiler");
  command.insert(command.end(), std::begin(kOptions), std::end(kOptions));
  command.insert(command.end(), {kLevels[static_cast<int>(isa)], "-o", output, input});
  const std::string problem = run(command, log);
  auto object = contents<std::vector<std::byte>>(output);
  if (problem.empty() && !object.empty()) return object;
  throw user_error("[codegen c] kernel {}: the C compiler '{}' {} (TENON_CC chooses another)\n{}",
                   kernel, compiler, problem.empty() ? "made no object file" : problem,
                   contents<std::string>(log).substr(0, kLongestMessage));
}

}  // namespace tenon::codegen::c
