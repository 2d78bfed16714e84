#include <subquad/problems/orthogonal_vectors.hpp>
