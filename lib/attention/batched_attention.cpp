#include <subquad/attention/batched_attention.hpp>
