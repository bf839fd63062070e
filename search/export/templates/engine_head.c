/*
 * #title: an engine that needs no other file, from Plysmith.
 *
 *     cc -std=c99 -O3 -march=native #file.c -o #file -lm
 *
 * It reads commands and answers each with a line; an empty one is answered with their list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
