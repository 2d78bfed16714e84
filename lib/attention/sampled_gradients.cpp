#include <subquad/attention/sampled_gradients.hpp>
