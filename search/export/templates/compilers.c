#include <math.h>
#include <string.h>

/* A product is rounded before it is added; gcc keeps to this where the language is strict C99. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* Written before loops of few turns, which gain by being written out. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

/* Written after tables and rows, so that they begin at a line of the cache. */
#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif

#if defined(__GNUC__)
#define PREFETCH(place) __builtin_prefetch(place)
#else
#define PREFETCH(place) ((void)0)
#endif
