#include <subquad/attention/lazy_gumbel.hpp>
