/*
 * #title: values of positions of #game (rules #version), from Plysmith.
 *
 * A position is #integers integers#seen; the start is
 *   {#first}
 * Nothing is kept between calls, so that many threads may call at once.
 */
#ifndef #upper_H
#define #upper_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define #upper_INTEGERS #integers

/* Returns #what. */
double @value(const int64_t position[]);
#more
#ifdef __cplusplus
}
#endif

#endif
