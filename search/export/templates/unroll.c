/* Written before loops of few turns, which gain by being written out. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif
