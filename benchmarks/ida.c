/* IDA* with the Manhattan distance on the 15-puzzle, written by hand for one board: the measure of
 * benchmarks/solve.py. Reads 16 tiles in reading order, 0 for the blank; prints cost, nodes generated
 * and seconds of processor time. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int tiles[16];
static int neighbours[16][5]; /* above, left, right, below; -1 ends the list */
static int change[16][16][16]; /* [tile][from][to] */
static long long generated;

static int distance(int tile, int square) {
    return tile ? abs(tile / 4 - square / 4) + abs(tile % 4 - square % 4) : 0;
}

/* Returns whether the goal lies within the bound. */
static int search(int blank, int before, int depth, int estimate, int bound) {
    for (const int *next = neighbours[blank]; *next >= 0; next++) {
        int from = *next;
        if (from == before) continue;
        generated++;
        int tile = tiles[from];
        int value = estimate + change[tile][from][blank];
        if (depth + 1 + value > bound) continue;
        tiles[blank] = tile;
        tiles[from] = 0;
        if (value == 0 || search(from, blank, depth + 1, value, bound)) return 1;
        tiles[from] = tile;
        tiles[blank] = 0;
    }
    return 0;
}

int main(void) {
    int blank = 0, estimate = 0;
    for (int square = 0; square < 16; square++) {
        if (scanf("%d", &tiles[square]) != 1) return 1;
        if (!tiles[square]) blank = square;
        estimate += distance(tiles[square], square);
    }
    for (int square = 0; square < 16; square++) {
        int count = 0;
        if (square >= 4) neighbours[square][count++] = square - 4;
        if (square % 4 > 0) neighbours[square][count++] = square - 1;
        if (square % 4 < 3) neighbours[square][count++] = square + 1;
        if (square < 12) neighbours[square][count++] = square + 4;
        neighbours[square][count] = -1;
        for (int tile = 0; tile < 16; tile++)
            for (int to = 0; to < 16; to++)
                change[tile][square][to] = distance(tile, to) - distance(tile, square);
    }
    clock_t begin = clock();
    int bound = estimate;
    while (!search(blank, -1, 0, estimate, bound)) bound += 2;
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%d %lld %.6f\n", bound, generated, seconds);
    return 0;
}
