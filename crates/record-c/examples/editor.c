/* A small editor that records itself: a log, a profile and a trace at once.
 *
 * cc -Iinclude examples/editor.c -ltraceloom_record_c -lpthread; ./a.out FOLDER; traceloom FOLDER/editor.prof */
#include <traceloom.h>

#include <stdio.h>

static unsigned lay_out(const char *line) {
    TRACELOOM_SPAN("lay out");
    unsigned width = 0;
    while (line[width] != 0)
        width++;
    TRACELOOM_VALUE("width", width);
    return width;
}

static void draw(int number) {
    static const char *const lines[] = {"first", "second", "the last one"};
    TRACELOOM_FRAME("frame");
    TRACELOOM_SPAN_TEXT("draw", lines[number % 3]);
    const unsigned width = lay_out(lines[number % 3]);
    TRACELOOM_INFO("frame %d is %u wide", number, width);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : ".";
    char clog[512], prof[512], trace[512];
    snprintf(clog, sizeof clog, "%s/editor.clog", folder);
    snprintf(prof, sizeof prof, "%s/editor.prof", folder);
    snprintf(trace, sizeof trace, "%s/editor.wtf-trace", folder);
    const traceloom_options_t options = {.clog = clog, .prof = prof, .wtf_trace = trace, .crash_handler = true};
    if (traceloom_start(&options) != 0) {
        fprintf(stderr, "%s\n", traceloom_error());
        return 1;
    }
    traceloom_thread_name("editor");
    for (int number = 0; number < 6; number++)
        draw(number);
    TRACELOOM_EVENT_TEXT("saved", "notes.txt");
    TRACELOOM_TEXT("file", "notes.txt");
    const double sizes[] = {0.5, 1.5};
    TRACELOOM_ARRAY("sizes", sizes, 2);
    traceloom_bookmark("done");
    TRACELOOM_WARN("%zu bytes are not saved", (size_t)17);
    return traceloom_stop();
}
