
/*
 * The incremental form: an accumulator holds the sums of the first layer for the inputs of one
 * position. Keep one for each side, as positions are seen by the side to move.
 */
typedef struct {
    uint64_t active[#words]; /* the inputs that are 1, as bits */
    int64_t count; /* their number */
    int16_t sums[#width];
} @accumulator;

/* Makes an accumulator without inputs. */
void @clear(@accumulator *accumulator);

/* Takes an input in (sign 1) that is 0, or out (sign -1) that is 1. */
void @change(@accumulator *accumulator, int64_t input, int sign);

/* Returns the value for the inputs of an accumulator. */
double @accumulated(const @accumulator *accumulator);

/* Changes the inputs that differ from a position's, and returns the value of the position. */
double @update(@accumulator *accumulator, const int64_t position[]);
