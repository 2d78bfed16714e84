#include <subquad/attention/streaming_softmax.hpp>
