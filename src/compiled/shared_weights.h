// Weights of files that several graphs of the process have open, once: what the runs of one graph
// have compared with its digests, those of the others need not.
#pragma once

#include <memory>

#include "program/artifact.h"

namespace tenon::compiled {

// Those that somebody holds of the same file (FileBytes::owner), where they are the same; else
// `weights`, for whoever asks next.
std::shared_ptr<const program::Weights> share(std::shared_ptr<const program::Weights> weights);

}  // namespace tenon::compiled
