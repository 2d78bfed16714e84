#include <subquad/ann/top_k.hpp>
