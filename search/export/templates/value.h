/*
 * #title: values of positions of #game (rules #version), from Plysmith.
 *
 * A position is #integers integers, as the side to move sees it; the start is
 *   {#first}
 * Nothing is kept between calls, so that many threads may call at once.
 */
#ifndef #upper_H
#define #upper_H

#include <stdint.h>

#define #upper_INTEGERS #integers

/* Returns the value of a position for its side to move; divided by #size it is in #unit. */
double @value(const int64_t position[]);
#more
#endif
