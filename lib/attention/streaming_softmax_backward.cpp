#include <subquad/attention/streaming_softmax_backward.hpp>
