#include <subquad/attention/sampled_attention.hpp>
