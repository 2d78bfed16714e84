#include <subquad/problems/random_orthogonal_vectors.hpp>
