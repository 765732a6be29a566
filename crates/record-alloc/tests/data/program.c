/* Allocates what the tests count: each function below is one site. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SITE __attribute__((noinline))
/* A compiler drops allocations that nobody looks at. */
#define LOOK_AT(address) __asm__ volatile("" : : "r"(address) : "memory")

__attribute__((weak)) void traceloom_alloc_marker(const char *name);

SITE void leak(void) {
    for (int i = 0; i < 7; i++) {
        char *kept = malloc(11); /* line of the leak */
        LOOK_AT(kept);
    }
}

SITE void grow(void) {
    char *text = malloc(10);
    text = realloc(text, 100);
    text = realloc(text, 100000);
    LOOK_AT(text);
    free(text);
    text = realloc(NULL, 5);
    LOOK_AT(text);
    text = realloc(text, 0);
}

SITE void aligned(void) {
    void *pieces[7];
    if (posix_memalign(&pieces[0], 64, 100) != 0) abort();
    pieces[1] = aligned_alloc(128, 256);
    pieces[2] = memalign(32, 50);
    pieces[3] = valloc(10);
    pieces[4] = pvalloc(10);
    pieces[5] = reallocarray(NULL, 3, 7);
    pieces[6] = calloc(3, 5);
    LOOK_AT(pieces);
    for (int i = 0; i < 7; i++) free(pieces[i]);
}

static void *made[4][1000];

SITE void *in_thread(void *own) {
    void **pieces = own;
    for (int i = 0; i < 1000; i++) pieces[i] = malloc(32);
    return NULL;
}

static void threads(void) {
    pthread_t ids[4];
    for (int i = 0; i < 4; i++) pthread_create(&ids[i], NULL, in_thread, made[i]);
    for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 1000; j++) free(made[i][j]);
}

static void plugin(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    void *(*allocate)(void) = (void *(*)(void))dlsym(library, "plugin_allocate");
    for (int i = 0; i < 3; i++) free(allocate());
    dlclose(library);
}

SITE void in_child(void) {
    for (int i = 0; i < 5; i++) LOOK_AT(malloc(55));
}

SITE void after_exec(void) {
    for (int i = 0; i < 2; i++) LOOK_AT(malloc(99));
}

SITE void many(void) {
    for (int i = 0; i < 100000; i++) {
        char *piece = malloc(100);
        LOOK_AT(piece);
        free(piece);
    }
}

/* A million allocations in each second, each freed after 4095 others; prints the kilobytes that were in memory at most. */
SITE void at_rate(int seconds) {
    enum { KEPT = 4096, PER_MILLISECOND = 1000 };
    static char *kept[KEPT];
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long milliseconds = 0, at = 0; milliseconds < seconds * 1000L; milliseconds++) {
        for (int i = 0; i < PER_MILLISECOND; i++, at = (at + 1) % KEPT) {
            free(kept[at]);
            kept[at] = malloc(16 + (size_t)at % 200);
        }
        /* Waits for the next millisecond; behind it, it hurries. */
        do clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <= milliseconds);
    }
    for (int at = 0; at < KEPT; at++) free(kept[at]);
    /* Not getrusage, which counts what the process was before exec. */
    char line[200];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0) printf("%d\n", atoi(line + 6));
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "second") == 0) {
        after_exec();
        return 0;
    }
    if (strcmp(mode, "rate") == 0) {
        at_rate(atoi(arguments[2]));
        return 0;
    }
    if (strcmp(mode, "many") == 0) {
        many();
        return 0;
    }
    leak();
    if (traceloom_alloc_marker) traceloom_alloc_marker("leaked");
    if (strcmp(mode, "killed") == 0) raise(SIGKILL);
    if (strcmp(mode, "code") == 0) return 7;
    grow();
    aligned();
    threads();
    plugin(arguments[1]);
    pid_t child = fork();
    if (child == 0) {
        in_child();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    execl("/proc/self/exe", arguments[0], "second", (char *)NULL);
    return 1;
}
