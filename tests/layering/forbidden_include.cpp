// Compiled twice for each room of tests/layering/CMakeLists.txt, with that room's include folders only: as it stands it
// must compile; with SUBQUAD_FORBIDDEN_HEADER set to a header of a room that it must not see, it must not find it.
#include SUBQUAD_OWN_HEADER

#ifdef SUBQUAD_FORBIDDEN_HEADER
#include SUBQUAD_FORBIDDEN_HEADER
#endif

int main() {
  return 0;
}
