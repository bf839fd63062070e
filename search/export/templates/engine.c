
/* The protocol: one command a line, one answer each. */

static const int64_t start_position[#integers] = {#start};

static int @is_legal(@line *line, int64_t move)
{
    const int64_t count = @list_at(line);
    for (int64_t i = 0; i < count; i++)
        if (line->root_moves[i] == move)
            return 1;
    return 0;
}

/* Reads an integer; returns whether the next word is one. */
static int @integer(char **text, int64_t *number)
{
    char *end;
    *number = (int64_t)strtoll(*text, &end, 10);
    if (end == *text)
        return 0;
    *text = end;
    return 1;
}

/* position start|INTEGERS [moves MOVE ...] */
static const char *@set_position(@line *line, char *text)
{
    int64_t position[#integers], move;
    char *moves = strstr(text, "moves");
    if (strncmp(text, "start", 5) == 0)
        memcpy(position, start_position, sizeof position);
    else
        for (int i = 0; i < #integers; i++)
            if (!@integer(&text, &position[i]))
                return "expected start or #integers integers";
    memcpy(line->positions, position, sizeof position);
    line->earlier = 0;
    if (moves == NULL)
        return NULL;
    for (moves += 5; moves[strspn(moves, " \r\n")] != 0;) {
        if (!@integer(&moves, &move) || !@is_legal(line, move))
            return "expected legal moves";
        @advance_at(line, move);
    }
    return NULL;
}

static void @clear(@line *line)
{
    memset(line->table, 0, #entries * sizeof line->table[0]);
    @forget_at(line);
}

static void @go(@line *line, int64_t depth, int64_t nodes)
{
    if (@think_at(line, depth, nodes))
        printf("move %" PRId64, line->root_moves[line->best]);
    else
        printf("move none");
    printf(" value %.17g depth %" PRId64 " nodes %" PRId64 "\n", line->value + 0.0,
           line->completed, line->nodes);
}

#protocol
static const char help[] =
    "#game: position start|#integers integers [moves MOVE ...], moves, go depth N, go nodes N,"
    " new, quit";

int main(void)
{
    static @line line;
    static char text[1 << 16];
    char *memory = calloc(#entries + 8, sizeof line.table[0]);
    if (memory == NULL)
        return 1;
    /* a bucket lies in one line of the cache */
    line.table = (int64_t *)(void *)(memory + 63 - ((uintptr_t)memory + 63) % 64);
    @forget_at(&line);
    @set_position(&line, strcpy(text, "start"));
    while (fgets(text, sizeof text, stdin) != NULL) {
        const char *error = NULL;
        if (strlen(text) == sizeof text - 1 && text[sizeof text - 2] != '\n') {
            for (int c = 0; c != '\n' && c != EOF;)
                c = getchar();
            printf("error expected a line of at most %d characters\n", (int)sizeof text - 2);
            continue;
        }
        int64_t number = 0;
        char *rest = strchr(text, ' ');
        char *last = rest == NULL ? NULL : strchr(rest + 1, ' ');
        if (strncmp(text, "quit", 4) == 0)
            break;
        if (#heeded)
            ;
        else if (strncmp(text, "position ", 9) == 0)
            error = @set_position(&line, text + 9);
        else if (strncmp(text, "new", 3) == 0)
            @clear(&line);
        else if (strncmp(text, "moves", 5) == 0) {
            const int64_t count = @list_at(&line);
            printf("moves");
            for (int64_t i = 0; i < count; i++)
                printf(" %" PRId64, line.root_moves[i]);
            printf("\n");
        } else if (last != NULL && @integer(&last, &number) && number > 0
                   && strncmp(text, "go depth ", 9) == 0)
            @go(&line, number < #depths ? number : #depths, INT64_C(1) << 62);
        else if (number > 0 && strncmp(text, "go nodes ", 9) == 0)
            @go(&line, #depths, number);
        else
            error = help;
        if (error != NULL)
            printf("error %s\n", error);
        fflush(stdout);
    }
    free(memory);
    return 0;
}
