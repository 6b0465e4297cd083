// Runs something in a child of this process, so that a crash is an answer too.
#pragma once

#include <functional>

namespace tenon::differential {

// What `question` answers, or true where it does not live to answer.
bool true_or_dead(const std::function<bool()>& question);

}  // namespace tenon::differential
