#include <subquad/ann/hash_tables.hpp>
