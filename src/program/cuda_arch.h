// Compute capabilities, as numbers: 90 is 9.0.
#pragma once

namespace tenon::program {

// Whether a GPU runs cubins that were compiled for `built`: the same major, and no higher minor.
constexpr bool cubin_runs_on(int built, int gpu) {
  return built / 10 == gpu / 10 && built % 10 <= gpu % 10;
}

}  // namespace tenon::program
