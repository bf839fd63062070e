
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
    const int16_t *row = #rows + input * #width;
    int16_t *sums = accumulator->sums;
    if (sign > 0)
        for (int i = 0; i < #width; i++)
            sums[i] = (int16_t)(sums[i] + row[i]);
    else
        for (int i = 0; i < #width; i++)
            sums[i] = (int16_t)(sums[i] - row[i]);
    accumulator->active[input / 64] ^= UINT64_C(1) << (input % 64);
    accumulator->count += sign;
}

double @accumulated(const @accumulator *accumulator)
{
    return @value_behind(accumulator->sums, accumulator->count);
}

double @update(@accumulator *accumulator, const int64_t position[])
{
    int64_t places[#most];
    uint64_t active[#words] = {0};
    const int64_t count = @active_at(position, places);
    int64_t changes = 0;
    for (int64_t i = 0; i < count; i++)
        active[places[i] / 64] |= UINT64_C(1) << (places[i] % 64);
    for (int i = 0; i < #words; i++)
        changes += @popcount((int64_t)(active[i] ^ accumulator->active[i]));
    if (changes > count)
        @clear(accumulator);
    for (int i = 0; i < #words; i++) {
        uint64_t rest = active[i] ^ accumulator->active[i];
        for (; rest; rest &= rest - 1) {
            const int64_t bit = @lowest((int64_t)rest);
            @change(accumulator, 64 * i + bit, (active[i] >> bit) & 1 ? 1 : -1);
        }
    }
    return @accumulated(accumulator);
}
