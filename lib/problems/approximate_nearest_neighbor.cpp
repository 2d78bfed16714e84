#include <subquad/problems/approximate_nearest_neighbor.hpp>
