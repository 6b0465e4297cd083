// The loops of a function in assembly text, found in its control flow: blocks stand in any order,
// so the lines between a label and a jump back to it are not a loop's body.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tenon::kernel_test {

using Lines = std::vector<std::string>;

// Mnemonic and operands, single spaces; labels with their colon; no comments or directives.
inline Lines instructions(const std::string& assembly) {
  Lines lines;
  std::istringstream stream(assembly);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string joined;
    for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
    const bool label = joined.ends_with(':');
    if (!joined.empty() && (joined[0] != '.' || label)) lines.push_back(joined);
  }
  return lines;
}

class FlowGraph {
 public:
  explicit FlowGraph(const Lines& lines) {
    split(lines);
    connect();
    find_dominators();
  }

  // The instructions of each loop that holds no other.
  std::vector<Lines> innermost_loops() const {
    std::map<size_t, std::set<size_t>> loops;  // by header
    for (size_t block = 0; block < blocks_.size(); ++block) {
      for (const size_t header : next_[block]) {
        if (dominators_[block].contains(header)) grow(loops[header], header, block);
      }
    }
    std::vector<Lines> result;
    for (const auto& [header, members] : loops) {
      const bool innermost = std::none_of(loops.begin(), loops.end(), [&](const auto& other) {
        return other.first != header && members.contains(other.first);
      });
      if (!innermost) continue;
      Lines& body = result.emplace_back();
      for (const size_t block : members) {
        body.insert(body.end(), blocks_[block].begin(), blocks_[block].end());
      }
    }
    return result;
  }

 private:
  void split(const Lines& lines) {
    blocks_.emplace_back();
    for (const std::string& line : lines) {
      if (line.ends_with(':')) {
        blocks_.emplace_back();
        labels_[line.substr(0, line.size() - 1)] = blocks_.size() - 1;
        continue;
      }
      blocks_.back().push_back(line);
      if (line[0] == 'j' || line.starts_with("ret")) blocks_.emplace_back();
    }
  }

  void connect() {
    next_.resize(blocks_.size());
    before_.resize(blocks_.size());
    const auto edge = [&](size_t from, size_t to) {
      next_[from].push_back(to);
      before_[to].push_back(from);
    };
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const std::string last = blocks_[i].empty() ? "" : blocks_[i].back();
      if (last[0] == 'j') {
        const auto target = labels_.find(last.substr(last.find(' ') + 1));
        if (target != labels_.end()) edge(i, target->second);
      }
      const bool falls = !last.starts_with("jmp") && !last.starts_with("ret");
      if (falls && i + 1 < blocks_.size()) edge(i, i + 1);
    }
  }

  void find_dominators() {
    std::set<size_t> all;
    for (size_t i = 0; i < blocks_.size(); ++i) all.insert(i);
    dominators_.assign(blocks_.size(), all);
    dominators_[0] = {0};
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 1; i < blocks_.size(); ++i) {
        std::set<size_t> common = before_[i].empty() ? std::set<size_t>() : all;
        for (const size_t from : before_[i]) {
          std::erase_if(common, [&](size_t d) { return !dominators_[from].contains(d); });
        }
        common.insert(i);
        if (common != dominators_[i]) dominators_[i] = common, changed = true;
      }
    }
  }

  // Everything that reaches the jump back without passing the header.
  void grow(std::set<size_t>& members, size_t header, size_t from) const {
    members.insert(header);
    std::vector<size_t> pending = {from};
    while (!pending.empty()) {
      const size_t block = pending.back();
      pending.pop_back();
      if (!members.insert(block).second) continue;
      pending.insert(pending.end(), before_[block].begin(), before_[block].end());
    }
  }

  std::vector<Lines> blocks_;
  std::map<std::string, size_t> labels_;
  std::vector<std::vector<size_t>> next_, before_;
  std::vector<std::set<size_t>> dominators_;
};

}  // namespace tenon::kernel_test
