/* Functions that translated code calls. `@` stands for the prefix of the file. */

/* popcount */
static inline int64_t @popcount(int64_t bits)
{
#if defined(__GNUC__)
    return __builtin_popcountll((unsigned long long)bits);
#else
    uint64_t x = (uint64_t)bits;
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int64_t)((x * UINT64_C(0x0101010101010101)) >> 56);
#endif
}

/* lowest */
static inline int64_t @lowest(int64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll((unsigned long long)bits);
#else
    uint64_t x = (uint64_t)bits;
    int64_t number = 0;
    while (!(x & 1)) {
        x >>= 1;
        number++;
    }
    return number;
#endif
}

/* reverse */
static inline int64_t @reverse(int64_t bits)
{
    uint64_t x = (uint64_t)bits;
    x = ((x >> 1) & UINT64_C(0x5555555555555555)) | ((x & UINT64_C(0x5555555555555555)) << 1);
    x = ((x >> 2) & UINT64_C(0x3333333333333333)) | ((x & UINT64_C(0x3333333333333333)) << 2);
    x = ((x >> 4) & UINT64_C(0x0f0f0f0f0f0f0f0f)) | ((x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4);
    x = ((x >> 8) & UINT64_C(0x00ff00ff00ff00ff)) | ((x & UINT64_C(0x00ff00ff00ff00ff)) << 8);
    x = ((x >> 16) & UINT64_C(0x0000ffff0000ffff)) | ((x & UINT64_C(0x0000ffff0000ffff)) << 16);
    return (int64_t)((x >> 32) | (x << 32));
}

/* floor_div */
/* As Python and Numba divide: rounded down, and 0 for a division by 0. */
static inline int64_t @floor_div(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
}

/* floor_mod */
static inline int64_t @floor_mod(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a % b + ((a % b != 0) & ((a < 0) != (b < 0))) * b;
}

/* at */
/* An index as Python reads it: -1 is the last. */
static inline int64_t @at(int64_t index, int64_t size)
{
    return index < 0 ? index + size : index;
}

/* min_int */
static inline int64_t @min_int(int64_t a, int64_t b)
{
    return b < a ? b : a;
}

/* max_int */
static inline int64_t @max_int(int64_t a, int64_t b)
{
    return b > a ? b : a;
}

/* min_float */
static inline double @min_float(double a, double b)
{
    return b < a ? b : a;
}

/* max_float */
static inline double @max_float(double a, double b)
{
    return b > a ? b : a;
}

/* min_single */
static inline float @min_single(float a, float b)
{
    return b < a ? b : a;
}

/* max_single */
static inline float @max_single(float a, float b)
{
    return b > a ? b : a;
}

/* float_bits */
static inline int64_t @float_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* bits_float */
static inline double @bits_float(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
