
void @clear(@accumulator *accumulator)
{
    for (int i = 0; i < #words; i++)
        accumulator->active[i] = 0;
    accumulator->count = 0;
    for (int i = 0; i < #width; i++)
        accumulator->sums[i] = #start[i];
}

void @change(@accumulator *accumulator, int64_t input, int sign)
{
    for (int i = 0; i < #width; i++)
        accumulator->sums[i] = (int16_t)(accumulator->sums[i] + sign * #rows[input * #width + i]);
    accumulator->active[input / 64] ^= UINT64_C(1) << (input % 64);
    accumulator->count += sign;
}

double @accumulated(const @accumulator *accumulator)
{
    return @value_behind(accumulator->sums, accumulator->count);
}

double @update(@accumulator *accumulator, const int64_t position[])
{
    int64_t places[#most], words[#words], changed = 0, changes = 0;
    uint64_t active[4][#words] = {{0}}, enter[#words], leave[#words];
    const int64_t count = @active_at(position, places);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t place = (uint64_t)places[i];
        active[i & 3][place / 64] |= UINT64_C(1) << (place % 64);
    }
    for (int i = 0; i < #words; i++) {
        const uint64_t now = active[0][i] | active[1][i] | active[2][i] | active[3][i];
        const uint64_t before = accumulator->active[i];
        if (now == before)
            continue;
        accumulator->active[i] = now;
        changes += @popcount((int64_t)(now ^ before));
        enter[changed] = now & ~before;
        leave[changed] = before & ~now;
        words[changed++] = i;
    }
    accumulator->count = count;
    if (changes > count)
        @sum_shorts_#width(accumulator->sums, #start, #rows, places, count);
    else
        @change_shorts_#width(accumulator->sums, #rows, words, enter, leave, changed);
    return @accumulated(accumulator);
}
