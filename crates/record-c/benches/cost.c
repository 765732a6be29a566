/* The cost of a call in C, measured as in cost.rs: processor time of bursts while the writer runs. */
#include <cnanolog.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BURST = 100000, BURSTS = 5 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

#define MEASURE(name, call)                                                                                            \
    do {                                                                                                               \
        double costs[BURSTS];                                                                                          \
        for (int burst = 0; burst < BURSTS; burst++) {                                                                 \
            traceloom_flush();                                                                                         \
            const double before = seconds();                                                                           \
            for (int number = 0; number < BURST; number++) {                                                           \
                call;                                                                                                  \
            }                                                                                                          \
            costs[burst] = (seconds() - before) / BURST * 1e9;                                                         \
        }                                                                                                              \
        qsort(costs, BURSTS, sizeof costs[0], compare);                                                                \
        printf("%s\t%f\n", name, costs[BURSTS / 2]);                                                                   \
    } while (0)

int main(int argc, char **argv) {
    const traceloom_options_t options = {.clog = argc > 1 ? argv[1] : "cost.clog", .ring_bytes = 8 << 20};
    if (traceloom_start(&options) != 0)
        return 1;
    const char *text = argc > 2 ? argv[2] : "";
    MEASURE("log without arguments", LOG_INFO("burst"));
    MEASURE("two ints and a double", LOG_INFO("%d of %d: %f", number, 7, 0.5));
    MEASURE("39-byte text", LOG_INFO("%s", text));
    MEASURE("span", TRACELOOM_SPAN("span"));
    return 0;
}
