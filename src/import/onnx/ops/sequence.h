// Recurrent layers, signal transforms, einsum, losses: the importers that ops/sequence.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {
Results rnn(Call& call);
Results gru(Call& call);
Results lstm(Call& call);
Results einsum(Call& call);
Results dft(Call& call);
Results stft(Call& call);
Results hann_window(Call& call);
Results hamming_window(Call& call);
Results blackman_window(Call& call);
Results mel_weight_matrix(Call& call);
Results negative_log_likelihood_loss(Call& call);
Results softmax_cross_entropy_loss(Call& call);
}  // namespace tenon::onnx::importers
