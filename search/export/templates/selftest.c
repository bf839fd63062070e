/* Values as Plysmith found them: prints how many differ. */
#include <math.h>
#include <stdio.h>

#include "#file.h"

#define COUNT #count

static const int64_t positions[COUNT][#integers] = {
#positions
};
static const double values[COUNT] = {
#values
};
#outcomes
int main(void)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const double value = @value(positions[i]);
        wrong += !(fabs(value - values[i]) <= #tolerance * fmax(1.0, fabs(values[i])));
    }
#more    printf("%d of %d positions differ\n", wrong, COUNT);
    return wrong != 0;
}
