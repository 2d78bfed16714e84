#include <subquad/ann/hash_family.hpp>
