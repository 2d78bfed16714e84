#include <subquad/attention/top_k_attention.hpp>
