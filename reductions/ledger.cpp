#include <subquad/reductions/ledger.hpp>
