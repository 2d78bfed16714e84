#include <subquad/problems/orthogonal_tuples.hpp>
