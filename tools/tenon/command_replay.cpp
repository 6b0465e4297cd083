// `tenon replay`: a graph that differential testing saved, on a device and on the interpreter.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "tools/replay/compare.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {

int replay(const ReplayOptions& options) {
  if (options.device != "cpu") {
    throw UsageError("device '{}' is not known; there is: cpu", options.device);
  }
  std::ifstream file(options.file, std::ios::binary);
  if (!file) throw user_error("{}: cannot be read", options.file);
  std::ostringstream text;
  text << file.rdbuf();
  const replay::Outcome outcome = replay::compare(replay::parse_case(text.str()), replay::cpu());
  constexpr const char* kWords[] = {"same", "refused", "differs"};
  fmt::print("{}{}{}\n", kWords[static_cast<int>(outcome.verdict)],
             outcome.message.empty() ? "" : ": ", outcome.message);
  return outcome.verdict == replay::Verdict::Same ? 0 : 1;
}

}  // namespace tenon::cli
