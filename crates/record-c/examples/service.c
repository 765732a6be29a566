/* A small service that logs with CNanoLog's names: levels, arguments of every type, threads, statistics.
 *
 * cc -Iinclude examples/service.c -ltraceloom_record_c -lpthread; ./a.out service.clog; traceloom log service.clog */
#include <cnanolog.h>

#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 3, REQUESTS = 40, LEVEL_AUDIT = 10 };

static void *work(void *argument) {
    const int worker = *(const int *)argument;
    cnanolog_preallocate();
    for (int request = 0; request < REQUESTS; request++) {
        const double ms = 0.25 * request;
        LOG_INFO("worker %d: request %d took %.2f ms", worker, request, ms);
        if (request % 10 == 9)
            LOG_WARN("worker %d: %s is slow", worker, "/orders");
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "service.clog";
    cnanolog_register_level("AUDIT", LEVEL_AUDIT);
    if (cnanolog_init(path) != 0) {
        fprintf(stderr, "%s: %s\n", path, traceloom_error());
        return 1;
    }
    char host[] = "localhost";
    const unsigned long long bytes = 1ULL << 40;
    LOG_INFO("service starting");
    LOG_DEBUG("listening on %s:%u, %llu bytes free, at %p", host, 8080u, bytes, (void *)0x1234);
    CNANOLOG_LOG(LEVEL_AUDIT, "%s logged in from %c%d", "alice", (char)'R', -7);
    log_info_si("User: %s, ID: %d", "alice", 123);

    pthread_t threads[WORKERS];
    int numbers[WORKERS];
    for (int worker = 0; worker < WORKERS; worker++) {
        numbers[worker] = worker;
        pthread_create(&threads[worker], NULL, work, &numbers[worker]);
    }
    for (int worker = 0; worker < WORKERS; worker++)
        pthread_join(threads[worker], NULL);

    cnanolog_stats_t stats;
    cnanolog_get_stats(&stats);
    LOG_ERROR("service stopped, %llu dropped", (unsigned long long)stats.dropped_logs);
    cnanolog_shutdown();
    return 0;
}
