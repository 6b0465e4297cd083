// Other processes on the folder of a store: the test program itself, started with words that
// main.cpp takes for a child's.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tenon::cache {

// Of a child that ended by itself.
enum class ChildResult : uint8_t { Right = 0, WrongValue = 3, FailedCall = 4 };

// What a child does, by name:
//   make FOLDER LOG ENTRIES SEED    asks for each entry once, in an order of its own; notes what it
//                                   made as a line of LOG
//   hold FOLDER LOG                 asks for entry 1 and never ends making it; LOG appears when it
//                                   has begun
//   churn FOLDER SEED VERSION MAX   asks for entries at random, many times, in a store of MAX bytes
pid_t start_child(const std::vector<std::string>& words);
int wait_child(pid_t child);  // the exit code, or -signal

int child_main(const std::vector<std::string>& words);

}  // namespace tenon::cache
