// The words of the text form, shared by printer, parser and the messages of the verifier: each enum
// of the loop IR as a table of names, and the shared spelling of names and constants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace tenon::kernel {

inline constexpr std::string_view kLevelText[] = {"lowered", "scheduled", "gpu"};
inline constexpr std::string_view kStorageText[] = {"global", "scratch", "stack", "register",
                                                    "shared"};
inline constexpr std::string_view kSourceText[] = {"argument", "packed"};
inline constexpr std::string_view kLoopText[] = {"parallel", "loop",   "thread",  "ladder",
                                                 "unroll",   "vector", "together"};
inline constexpr std::string_view kMmaText[] = {"outer", "dot2", "dot4"};
inline constexpr std::string_view kTileText[] = {"fma", "tensor_core"};

constexpr std::string_view text_of(Level level) { return kLevelText[static_cast<int>(level)]; }
constexpr std::string_view text_of(Storage s) { return kStorageText[static_cast<int>(s)]; }
constexpr std::string_view text_of(Source source) { return kSourceText[static_cast<int>(source)]; }
constexpr std::string_view text_of(LoopKind kind) { return kLoopText[static_cast<int>(kind)]; }
constexpr std::string_view text_of(MmaKind kind) { return kMmaText[static_cast<int>(kind)]; }
constexpr std::string_view text_of(TileKind kind) { return kTileText[static_cast<int>(kind)]; }

// As Dim prints names: quoted where they are no identifiers.
inline std::string name_text(const std::string& name) {
  return name.empty() ? "\"\"" : Dim(Symbol(name)).to_string();
}

// The expressions of one statement. Nodes used more than once, and some on the way down a very deep
// expression, are definitions `%0 = ...` that stand before it.
struct ExprText {
  std::vector<std::string> definitions;
  std::vector<std::string> roots;
};
// A range that the statement itself binds: definitions that use it name it as a parameter.
struct BoundRange {
  Symbol symbol;
  Dim extent;
};
ExprText print_exprs(const std::vector<ExprRef>& roots, const std::vector<std::string>& buffers,
                     const std::vector<BoundRange>& bound = {});
std::string print_guards(std::string_view word, const std::vector<Guard>& guards);

}  // namespace tenon::kernel
