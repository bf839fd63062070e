/* Products are rounded before they are added, as gcc does where the language is strict C99. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
/* Written before loops of few turns, which gain by being written out. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif
/* For arrays that are read in whole vectors, which then lie in one line of the cache each. */
#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif
