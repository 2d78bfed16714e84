#include <subquad/problems/orthogonal_vectors_threshold.hpp>
