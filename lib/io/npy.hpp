// NumPy .npy files: reader and writer.
#pragma once

namespace subquad::io {}  // namespace subquad::io
