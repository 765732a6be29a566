#include <stdlib.h>

void *plugin_allocate(void) {
    char *piece = malloc(77);
    __asm__ volatile("" : : "r"(piece) : "memory");
    return piece;
}
