#include <subquad/verifiers/gap_ann_rows.hpp>
