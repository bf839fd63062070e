/*
 * Sums over rows of numbers, as in games.kernels.vectors, with the same order of additions of
 * floats. `@` is the prefix of the file. Sizes such as #width are fixed. What is between `chunk N`
 * and `end`, with N numbers in 256 bits, is written for each piece of a row, from column #first on; a line with #v for each vector in
 * it, and a line with #p for each of several sums that do not wait for one another. It is written
 * for vectors of #bits = 256 and, where the row has whole ones, of 512 for machines that have them.
 */

/* head */
#if defined(__GNUC__) && !defined(PLAIN)
#define VECTORS
#define INLINE static inline __attribute__((always_inline))
typedef float @floats_256 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t @words __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t @shorts_256 __attribute__((vector_size(32), aligned(2), may_alias));
#if defined(__AVX2__)
#include <immintrin.h>
#define PAIRS
typedef int32_t @pair __attribute__((aligned(2), may_alias));
#if defined(__AVXVNNI__)
#define ADD_PAIRS_256(sum, a, b) _mm256_dpwssd_avx_epi32(sum, a, b)
#elif defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define ADD_PAIRS_256(sum, a, b) _mm256_dpwssd_epi32(sum, a, b)
#else
#define ADD_PAIRS_256(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#endif
#define LOAD_256(place) _mm256_loadu_si256((const __m256i *)(const void *)(place))
#define STORE_256(place, vector) _mm256_storeu_si256((__m256i *)(void *)(place), vector)
#endif
#if defined(__AVX512BW__)
#define WIDE
typedef float @floats_512 __attribute__((vector_size(64), aligned(4), may_alias));
typedef int16_t @shorts_512 __attribute__((vector_size(64), aligned(2), may_alias));
#if defined(__AVX512VNNI__)
#define ADD_PAIRS_512(sum, a, b) _mm512_dpwssd_epi32(sum, a, b)
#else
#define ADD_PAIRS_512(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#endif
#define LOAD_512(place) _mm512_loadu_si512((const void *)(place))
#define STORE_512(place, vector) _mm512_storeu_si512((void *)(place), vector)
#endif
#else
#define INLINE static inline
#endif

/* sum_rows width */
INLINE void @sum_rows_#width(float *target, const float *bias, const float *rows,
                             const int64_t *places, int64_t count)
{
#if defined(VECTORS)
    /* chunk 8 */
    {
        @floats_#bits t#v = *(const @floats_#bits *)(bias + #first + #lanes * #v);
        for (int64_t i = 0; i < count; i++) {
            const float *row = rows + places[i] * #width + #first;
            t#v += *(const @floats_#bits *)(row + #lanes * #v);
        }
        *(@floats_#bits *)(target + #first + #lanes * #v) = t#v;
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
#if defined(VECTORS)
    uint64_t used[(#length + 63) / 64] = {0};
#if defined(PAIRS)
    for (int i = 0; i < #length; i += 8) {
        const __m256 some = _mm256_loadu_ps(inputs + i), zero = _mm256_setzero_ps();
        const __m256 test = _mm256_cmp_ps(some, zero, #positive ? _CMP_GT_OQ : _CMP_NEQ_UQ);
        used[i / 64] |= (uint64_t)_mm256_movemask_ps(test) << (i % 64);
    }
#else
    for (int i = 0; i < #length; i++)
        used[i / 64] |= (uint64_t)(#positive ? inputs[i] > 0.0f : inputs[i] != 0.0f) << (i % 64);
#endif
    /* chunk 8 */
    {
        @floats_#bits t#v = *(const @floats_#bits *)(bias + #first + #lanes * #v);
        for (int word = 0; word < (#length + 63) / 64; word++)
            for (uint64_t rest = used[word]; rest; rest &= rest - 1) {
                const int64_t i = 64 * word + __builtin_ctzll(rest);
                const float input = inputs[i];
                const float *row = rows + i * #width + #first;
                t#v += input * *(const @floats_#bits *)(row + #lanes * #v);
            }
        *(@floats_#bits *)(target + #first + #lanes * #v) = t#v;
    }
    /* end */
#else
    for (int j = 0; j < #width; j++)
        target[j] = bias[j];
    for (int i = 0; i < #length; i++)
        if (#positive ? inputs[i] > 0.0f : inputs[i] != 0.0f)
            for (int j = 0; j < #width; j++)
                target[j] += inputs[i] * rows[i * #width + j];
#endif
}

/* dot length positive */
/* In eight sums, which are added in halves. */
INLINE float @dot_#length_#positive(const float *inputs, const float *weights)
{
    float total[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#if defined(VECTORS)
    const @floats_256 zero = *(const @floats_256 *)total;
    @floats_256 sum = zero;
    for (int i = 0; i < #length; i += 8) {
        const @floats_256 x = *(const @floats_256 *)(inputs + i);
        const @floats_256 read = #positive ? (@floats_256)((@words)x & (x > zero)) : x;
        sum += read * *(const @floats_256 *)(weights + i);
    }
    *(@floats_256 *)total = sum;
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
    /* chunk 16 */
    {
        @shorts_#bits t#v = *(const @shorts_#bits *)(bias + #first + #lanes * #v);
        for (int64_t i = 0; i < count; i++) {
            const int16_t *row = rows + places[i] * #width + #first;
            t#v += *(const @shorts_#bits *)(row + #lanes * #v);
        }
        *(@shorts_#bits *)(target + #first + #lanes * #v) = t#v;
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
/* Add the rows of the bits that enter, and subtract those of the bits that leave, word by word. */
INLINE void @change_shorts_#width(int16_t *sums, const int16_t *rows, const int64_t *words,
                                  const uint64_t *enter, const uint64_t *leave, int64_t count)
{
#if defined(VECTORS)
    /* chunk 16 */
    {
        @shorts_#bits t#v = *(const @shorts_#bits *)(sums + #first + #lanes * #v);
        for (int64_t i = 0; i < count; i++) {
            const int16_t *base = rows + 64 * #width * words[i] + #first;
            for (uint64_t rest = enter[i]; rest; rest &= rest - 1) {
                const int16_t *row = base + #width * __builtin_ctzll(rest);
                t#v += *(const @shorts_#bits *)(row + #lanes * #v);
            }
            for (uint64_t rest = leave[i]; rest; rest &= rest - 1) {
                const int16_t *row = base + #width * __builtin_ctzll(rest);
                t#v -= *(const @shorts_#bits *)(row + #lanes * #v);
            }
        }
        *(@shorts_#bits *)(sums + #first + #lanes * #v) = t#v;
    }
    /* end */
#else
    for (int64_t i = 0; i < count; i++)
        for (int bit = 0; bit < 64; bit++) {
            const int sign = (int)(enter[i] >> bit & 1) - (int)(leave[i] >> bit & 1);
            for (int j = 0; sign && j < #width; j++)
                sums[j] = (int16_t)(sums[j] + sign * rows[(64 * words[i] + bit) * #width + j]);
        }
#endif
}

/* clip_shorts width shift most */
INLINE void @clip_shorts_#width_#shift_#most(int16_t *target, const int16_t *source)
{
#if defined(PAIRS)
    /* chunk 16 */
    {
        const __m#bitsi least = _mm#bits_setzero_si#bits(), most = _mm#bits_set1_epi16(#most);
        __m#bitsi u#v = _mm#bits_srai_epi16(LOAD_#bits(source + #first + #lanes * #v), #shift);
        u#v = _mm#bits_min_epi16(_mm#bits_max_epi16(u#v, least), most);
        STORE_#bits(target + #first + #lanes * #v, u#v);
    }
    /* end */
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
    /* chunk 8 */
    {
        __m#bitsi t#v_#p = #p ? _mm#bits_setzero_si#bits() : LOAD_#bits(bias + #first + #lanes * #v);
        UNROLL
        for (int i = 0; i < #length / 2; i += #parts) {
            const __m#bitsi pair#p = _mm#bits_set1_epi32(pairs[i + #p]);
            const int16_t *row#p = rows + 2 * #width * (i + #p) + 2 * #first;
            t#v_#p = ADD_PAIRS_#bits(t#v_#p, pair#p, LOAD_#bits(row#p + 2 * #lanes * #v));
        }
        __m#bitsi s#v = t#v_0;
        s#v = #p ? _mm#bits_add_epi32(s#v, t#v_#p) : s#v;
        STORE_#bits(total + #first + #lanes * #v, s#v);
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
