#include "plan/in_place.h"

#include <algorithm>

#include "plan/liveness.h"
#include "plan/timeline.h"

namespace tenon::plan {
namespace {

using program::ArenaBuffer;
using program::BufferKind;
using program::BufferRef;
using program::Program;
using program::Step;

class Overwriter {
 public:
  explicit Overwriter(Program& program)
      : program_(program), moments_(timeline(program)), lives_(arena_lives(program, moments_)) {}

  void run() {
    for (size_t i = 0; i < moments_.size(); ++i) {
      for (const Step& step : moments_[i].steps) {
        for (const auto& [result, operand] : step.in_place) {
          const BufferRef to = step.buffers[static_cast<size_t>(operand)];
          if (may_overwrite(step.buffers[static_cast<size_t>(result)], to, i)) {
            put(step.buffers[static_cast<size_t>(result)], root_of(program_, to));
            break;
          }
        }
      }
    }
    // Views of a result that lies in its operand now.
    for (ArenaBuffer& buffer : program_.arena) {
      if (buffer.view) buffer.view->root = root_of(program_, buffer.view->root);
    }
  }

 private:
  ArenaBuffer& arena(const BufferRef& ref) {
    return program_.arena[static_cast<size_t>(ref.index)];
  }
  Life& life(const BufferRef& ref) { return lives_[static_cast<size_t>(ref.index)]; }

  // The result begins here, and its operand, all of its memory, ends here.
  bool may_overwrite(const BufferRef& result, const BufferRef& operand, size_t moment) {
    const BufferRef root = root_of(program_, operand);
    const auto now = static_cast<int>(moment);
    if (result.kind != BufferKind::Arena || arena(result).view || life(result).begin != now)
      return false;
    if (root.kind != BufferKind::Arena || life(root).end != now || life(root).begin == now)
      return false;
    if (arena(root).bytes != arena(result).bytes || arena(operand).bytes != arena(result).bytes)
      return false;
    // Nothing else of the moment touches it.
    const auto touches = [&](const Access& access) {
      return root_of(program_, access.buffer) == root;
    };
    return std::ranges::count_if(moments_[moment].accesses(), touches) == 1;
  }

  void put(const BufferRef& result, const BufferRef& root) {
    arena(result).view = program::View{root, 0};
    life(root).end = life(result).end;
  }

  Program& program_;
  std::vector<Moment> moments_;
  std::vector<Life> lives_;
};

}  // namespace

void overwrite_operands(Program& program) { Overwriter(program).run(); }

}  // namespace tenon::plan
