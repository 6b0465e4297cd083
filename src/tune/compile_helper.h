// Compiling where it cannot take this process down: in a program that is started for it, told
// kernels as text and answers with code. Where that program dies, or takes too long and is ended,
// the kernel has no code, and the next one starts it again.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/backend.h"

namespace tenon::tune {

class CompileHelper {
 public:
  // `command`: the program and its arguments. Nothing is started yet.
  CompileHelper(std::vector<std::string> command, double timeout_seconds);
  ~CompileHelper();
  CompileHelper(const CompileHelper&) = delete;
  CompileHelper& operator=(const CompileHelper&) = delete;

  Status start();  // compile does so too
  Result<std::shared_ptr<const program::Code>> compile(const kernel::Kernel& kernel);

 private:
  void stop();

  std::vector<std::string> command_;
  double timeout_;
  pid_t process_ = -1;
  int socket_ = -1;
};

// The program's side: answers what is asked on the socket that is its standard input, until that
// ends.
void serve_compiles(const driver::Backend& backend, int socket);

}  // namespace tenon::tune
