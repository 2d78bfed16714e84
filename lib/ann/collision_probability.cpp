#include <subquad/ann/collision_probability.hpp>
