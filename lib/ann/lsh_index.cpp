#include <subquad/ann/approximate_index.hpp>
