/*
 * Sums over rows of numbers, as in games.kernels.vectors, with the same order of additions of
 * floats. `@` is the prefix of the file. Sizes such as #width are fixed. What is between `chunk` and
 * `end` is written for each piece of a row, from column #first on; a line with #v for each vector in
 * it, and a line with #p for each of several sums that do not wait for one another.
 */

/* head */
#if defined(__GNUC__) && !defined(PLAIN)
#define VECTORS
#define INLINE static inline __attribute__((always_inline))
typedef float @floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t @words __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t @shorts __attribute__((vector_size(32), aligned(2), may_alias));
#if defined(__AVX2__)
#include <immintrin.h>
#define PAIRS
typedef int32_t @pair __attribute__((aligned(2), may_alias));
#if defined(__AVXVNNI__)
#define ADD_PAIRS(sum, a, b) _mm256_dpwssd_avx_epi32(sum, a, b)
#elif defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define ADD_PAIRS(sum, a, b) _mm256_dpwssd_epi32(sum, a, b)
#else
#define ADD_PAIRS(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#endif
#define LOAD(place) _mm256_loadu_si256((const __m256i *)(const void *)(place))
#define STORE(place, vector) _mm256_storeu_si256((__m256i *)(void *)(place), vector)
#endif
#else
#define INLINE static inline
#endif

/* sum_rows width */
INLINE void @sum_rows_#width(float *target, const float *bias, const float *rows,
                             const int64_t *places, int64_t count)
{
#if defined(VECTORS)
    /* chunk */
    {
        @floats t#v = *(const @floats *)(bias + #first + 8 * #v);
        for (int64_t i = 0; i < count; i++) {
            const float *row = rows + places[i] * #width + #first;
            t#v += *(const @floats *)(row + 8 * #v);
        }
        *(@floats *)(target + #first + 8 * #v) = t#v;
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        target[j] = bias[j];
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < #width; j++)
            target[j] += rows[places[i] * #width + j];
#endif
}

/* add_products length width positive */
INLINE void @add_products_#length_#width_#positive(float *target, const float *bias,
                                                   const float *rows, const float *inputs)
{
    int64_t used[#length], count = 0;
#if defined(PAIRS)
    for (int i = 0; i < #length; i += 64) {
        uint64_t rest = 0;
        for (int k = 0; k < 64 && i + k < #length; k += 8) {
            const __m256 some = _mm256_loadu_ps(inputs + i + k), zero = _mm256_setzero_ps();
            const __m256 test = _mm256_cmp_ps(some, zero, #positive ? _CMP_GT_OQ : _CMP_NEQ_UQ);
            rest |= (uint64_t)_mm256_movemask_ps(test) << k;
        }
        for (; rest; rest &= rest - 1)
            used[count++] = i + __builtin_ctzll(rest);
    }
#else
    for (int i = 0; i < #length; i++) {
        used[count] = i;
        count += #positive ? inputs[i] > 0.0f : inputs[i] != 0.0f;
    }
#endif
#if defined(VECTORS)
    /* chunk */
    {
        @floats t#v = *(const @floats *)(bias + #first + 8 * #v);
        for (int64_t i = 0; i < count; i++) {
            const float input = inputs[used[i]];
            const float *row = rows + used[i] * #width + #first;
            t#v += input * *(const @floats *)(row + 8 * #v);
        }
        *(@floats *)(target + #first + 8 * #v) = t#v;
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        target[j] = bias[j];
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < #width; j++)
            target[j] += inputs[used[i]] * rows[used[i] * #width + j];
#endif
}

/* dot length positive */
/* In eight sums, which are added in halves. */
INLINE float @dot_#length_#positive(const float *inputs, const float *weights)
{
    float total[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#if defined(VECTORS)
    const @floats zero = *(const @floats *)total;
    @floats sum = zero;
    for (int i = 0; i < #length; i += 8) {
        const @floats x = *(const @floats *)(inputs + i);
        const @floats read = #positive ? (@floats)((@words)x & (x > zero)) : x;
        sum += read * *(const @floats *)(weights + i);
    }
    *(@floats *)total = sum;
#else
    for (int i = 0; i < #length; i += 8)
        for (int j = 0; j < 8; j++)
            total[j] += (#positive && !(inputs[i + j] > 0.0f) ? 0.0f : inputs[i + j]) * weights[i + j];
#endif
    for (int half = 4; half; half /= 2)
        for (int j = 0; j < half; j++)
            total[j] += total[j + half];
    return total[0];
}

/* sum_shorts width */
INLINE void @sum_shorts_#width(int16_t *target, const int16_t *bias, const int16_t *rows,
                               const int64_t *places, int64_t count)
{
#if defined(VECTORS)
    /* chunk */
    {
        @shorts t#v = *(const @shorts *)(bias + #first + 16 * #v);
        for (int64_t i = 0; i < count; i++) {
            const int16_t *row = rows + places[i] * #width + #first;
            t#v += *(const @shorts *)(row + 16 * #v);
        }
        *(@shorts *)(target + #first + 16 * #v) = t#v;
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        target[j] = bias[j];
    for (int64_t i = 0; i < count; i++)
        for (int j = 0; j < #width; j++)
            target[j] = (int16_t)(target[j] + rows[places[i] * #width + j]);
#endif
}

/* change_shorts width */
INLINE void @change_shorts_#width(int16_t *sums, const int16_t *rows, const int64_t *more,
                                  int64_t entering, const int64_t *less, int64_t leaving)
{
#if defined(VECTORS)
    /* chunk */
    {
        @shorts t#v = *(const @shorts *)(sums + #first + 16 * #v);
        for (int64_t i = 0; i < entering; i++) {
            const int16_t *row = rows + more[i] * #width + #first;
            t#v += *(const @shorts *)(row + 16 * #v);
        }
        for (int64_t i = 0; i < leaving; i++) {
            const int16_t *row = rows + less[i] * #width + #first;
            t#v -= *(const @shorts *)(row + 16 * #v);
        }
        *(@shorts *)(sums + #first + 16 * #v) = t#v;
    }
    /* end */
#else
    for (int64_t i = 0; i < entering; i++)
        for (int j = 0; j < #width; j++)
            sums[j] = (int16_t)(sums[j] + rows[more[i] * #width + j]);
    for (int64_t i = 0; i < leaving; i++)
        for (int j = 0; j < #width; j++)
            sums[j] = (int16_t)(sums[j] - rows[less[i] * #width + j]);
#endif
}

/* clip_shorts width shift most */
INLINE void @clip_shorts_#width_#shift_#most(int16_t *target, const int16_t *source)
{
#if defined(PAIRS)
    const __m256i least = _mm256_setzero_si256(), most = _mm256_set1_epi16(#most);
    for (int j = 0; j < #width; j += 16) {
        const __m256i units = _mm256_max_epi16(_mm256_srai_epi16(LOAD(source + j), #shift), least);
        STORE(target + j, _mm256_min_epi16(units, most));
    }
#else
    for (int j = 0; j < #width; j++) {
        int16_t unit = (int16_t)(source[j] >> #shift);
        unit = unit < 0 ? 0 : unit;
        target[j] = unit > #most ? #most : unit;
    }
#endif
}

/* clip_products length width shift most */
/* Rows stand in pairs: the numbers [0, 0], [1, 0], [0, 1], [1, 1] and so on. */
INLINE void @clip_products_#length_#width_#shift_#most(int16_t *target, const int32_t *bias,
                                                       const int16_t *rows, const int16_t *inputs)
{
    int32_t total[#width];
#if defined(PAIRS)
    const @pair *pairs = (const @pair *)(const void *)inputs;
    /* chunk */
    {
        __m256i t#v_#p = #p ? _mm256_setzero_si256() : LOAD(bias + #first + 8 * #v);
        UNROLL
        for (int i = 0; i < #length / 2; i += #parts) {
            const __m256i pair#p = _mm256_set1_epi32(pairs[i + #p]);
            const int16_t *row#p = rows + 2 * #width * (i + #p) + 2 * #first;
            t#v_#p = ADD_PAIRS(t#v_#p, pair#p, LOAD(row#p + 16 * #v));
        }
        STORE(total + #first + 8 * #v, _mm256_setzero_si256());
        STORE(total + #first + 8 * #v, _mm256_add_epi32(LOAD(total + #first + 8 * #v), t#v_#p));
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        total[j] = bias[j];
    for (int i = 0; i < #length / 2; i++)
        for (int j = 0; j < #width; j++)
            total[j] += inputs[2 * i] * rows[2 * (i * #width + j)]
                + inputs[2 * i + 1] * rows[2 * (i * #width + j) + 1];
#endif
    for (int j = 0; j < #width; j++) {
        int32_t unit = total[j] >> #shift;
        unit = unit < 0 ? 0 : unit;
        target[j] = (int16_t)(unit > #most ? #most : unit);
    }
}

/* dot_shorts length */
INLINE int32_t @dot_shorts_#length(const int16_t *inputs, const int16_t *weights)
{
    int32_t total = 0;
    for (int i = 0; i < #length; i++)
        total += inputs[i] * weights[i];
    return total;
}
