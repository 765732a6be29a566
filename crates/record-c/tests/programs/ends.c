/* Ends in the way that its second argument names. */
#include <cnanolog.h>

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

int main(int argc, char **argv) {
    if (argc < 3 || cnanolog_init(argv[1]) != 0)
        return 1;
    const char *end = argv[2];
    if (strcmp(end, "fork") == 0) {
        fork_and_log();
        return 0;
    }
    if (strcmp(end, "exit") != 0 && traceloom_crash_handler() != 0)
        return 1;
    for (int number = 0; number < ENTRIES; number++)
        LOG_INFO("entry %d", number);
    if (strcmp(end, "segv") == 0)
        *(volatile int *)(uintptr_t)(argc - 3) = 1;
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "overflow") == 0)
        return overflow(0);
    exit(7);
}
