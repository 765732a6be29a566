/* Ends in the way that its second argument names. */
#include <cnanolog.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENTRIES = 1000 };

static void *keep_busy(void *unused) {
    for (int round = 0; round < 100000; round++) {
        LOG_DEBUG("busy");
        usleep(100);
    }
    return unused;
}

static int overflow(int depth) {
    volatile char page[4096];
    page[depth % 4096] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + page[0];
}

static void fork_and_log(void) {
    pthread_t busy;
    pthread_create(&busy, NULL, keep_busy, NULL);
    LOG_INFO("before");
    const pid_t child = fork();
    if (child == 0) {
        for (int number = 0; number < ENTRIES; number++)
            LOG_INFO("child %d", number);
        exit(0);
    }
    const pid_t idle = fork();
    if (idle == 0)
        exit(0);
    waitpid(child, NULL, 0);
    waitpid(idle, NULL, 0);
    printf("%d %d\n", (int)child, (int)idle);
    LOG_INFO("after");
}

static pthread_key_t key;

static void log_late(void *text) { LOG_INFO("%s", (const char *)text); }

/* Logs in the same place while it runs and when nothing of it is left but the destructors of its keys. */
static void *end_late(void *text) {
    pthread_setspecific(key, text);
    log_late((void *)(uintptr_t) "in time");
    log_late((void *)(uintptr_t) "in time, by the short way");
    return NULL;
}

static void run_thread(void *(*work)(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, argument);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    /* A pipe that nobody reads. */
    if (argc == 3 && strcmp(argv[2], "stuck") == 0 && open(argv[1], O_RDWR) < 0)
        return 2;
    if (argc < 3 || cnanolog_init(argv[1]) != 0)
        return 1;
    const char *end = argv[2];
    if (strcmp(end, "fork") == 0) {
        fork_and_log();
        return 0;
    }
    if (strcmp(end, "late") == 0) {
        pthread_key_create(&key, log_late);
        run_thread(end_late, (void *)(uintptr_t) "late");
        run_thread(end_late, (void *)(uintptr_t) "late");
        return 0;
    }
    if (strcmp(end, "exit") != 0 && traceloom_crash_handler() != 0)
        return 1;
    for (int number = 0; number < ENTRIES; number++)
        LOG_INFO("entry %d", number);
    if (strcmp(end, "stuck") == 0) {
        /* More than a pipe holds, and less than a ring. */
        for (int number = 0; number < 10000; number++)
            LOG_INFO("entry %d %d", number, number);
        abort();
    }
    if (strcmp(end, "segv") == 0)
        *(volatile int *)(uintptr_t)(argc - 3) = 1;
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "overflow") == 0)
        return overflow(0);
    exit(7);
}
