#include <subquad/io/npy.hpp>
