/* Prototypes of the recorder. Made by cbindgen: change the Rust source instead. Use traceloom.h, cnanolog.h or easy/profiler.h. */

#ifndef TRACELOOM_API_H
#define TRACELOOM_API_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The time of the last frame, that is of the last outermost block.
#define TRACELOOM_FRAME_LAST 0

// The time of the longest frame since this was asked before.
#define TRACELOOM_FRAME_MAX 1

// The average time of frames since this was asked before.
#define TRACELOOM_FRAME_AVERAGE 2

// An `int`, or anything smaller that has a sign, or a `bool`.
#define TRACELOOM_INT32 1

// A `long long`.
#define TRACELOOM_INT64 2

// An `unsigned int`, or anything smaller without a sign.
#define TRACELOOM_UINT32 3

// An `unsigned long long`.
#define TRACELOOM_UINT64 4

// The bits of a `double`.
#define TRACELOOM_DOUBLE 5

// A `const char *`.
#define TRACELOOM_STRING 6

// Any other address.
#define TRACELOOM_POINTER 7

// A `char`.
#define TRACELOOM_CHAR 8

// A `bool`.
#define TRACELOOM_VALUE_BOOL 0

// A `char`.
#define TRACELOOM_VALUE_CHAR 1

// An `int8_t`.
#define TRACELOOM_VALUE_INT8 2

// A `uint8_t`.
#define TRACELOOM_VALUE_UINT8 3

// An `int16_t`.
#define TRACELOOM_VALUE_INT16 4

// A `uint16_t`.
#define TRACELOOM_VALUE_UINT16 5

// An `int32_t`.
#define TRACELOOM_VALUE_INT32 6

// A `uint32_t`.
#define TRACELOOM_VALUE_UINT32 7

// An `int64_t`.
#define TRACELOOM_VALUE_INT64 8

// A `uint64_t`.
#define TRACELOOM_VALUE_UINT64 9

// A `float`.
#define TRACELOOM_VALUE_FLOAT 10

// A `double`.
#define TRACELOOM_VALUE_DOUBLE 11

// A text.
#define TRACELOOM_VALUE_STRING 12

// A call site: a static next to the call. Its texts and types have to stay valid as long as it does.
typedef struct {
  // The library's; zero at first.
  uint64_t state;
  // The name of a span, event or value, or the format of a log entry.
  const char *name;
  // The source file.
  const char *file;
  // The types of the arguments of a log entry, `count` of them; `TRACELOOM_INT32` and so on.
  const uint8_t *types;
  // How a log of lines shows its entries; NULL for the pattern of the log.
  const char *pattern;
  // The line in the source file.
  uint32_t line;
  // ARGB; 0 for the default color.
  uint32_t color;
  // Number of arguments of a log entry, 50 at most.
  uint8_t count;
  // Level of a log entry.
  uint8_t level;
  // Status of an EasyProfiler block.
  uint8_t status;
} traceloom_site_t;

// A value or an array of values: EasyProfiler's number of the type, and the bytes.
typedef struct {
  // The elements.
  const void *data;
  // The bytes of all elements.
  size_t size;
  // Which quantity it is, if the name does not say it: an address, or 0.
  uint64_t id;
  // `TRACELOOM_VALUE_BOOL` and so on.
  uint8_t data_type;
  // Whether it is an array.
  bool is_array;
} traceloom_value_t;

// What to record and where to. All zeros are the defaults; NULL leaves a file out.
typedef struct {
  // Log entries go here.
  const char *clog;
  // Spans, events and values go here when the recorder stops.
  const char *prof;
  // Everything goes here.
  const char *wtf_trace;
  // What is on, such as `info,src/net.c=debug`; NULL for everything.
  const char *filter;
  // Bytes of a thread's ring; 0 for 1 MiB.
  uint32_t ring_bytes;
  // The port for EasyProfiler's GUI and `traceloom capture`; 0 for none.
  uint16_t port;
  // Log entries that find no room are dropped and counted; else the thread waits.
  bool drop_logs;
  // A thread waits until there is room for its spans; else they are dropped and counted.
  bool keep_spans;
  // Signals that end the process wait until everything is written, 2 s at most.
  bool crash_handler;
} traceloom_options_t;

// What was recorded since the start, and what was not.
typedef struct {
  // Records that reached the writer.
  uint64_t records;
  // Records that found no room.
  uint64_t dropped;
  // Calls after the end of the recorder or of their thread.
  uint64_t late;
  // Texts that were longer than a record can be.
  uint64_t cut;
  // Records that could not be written.
  uint64_t lost;
  // Errors of files.
  uint64_t errors;
  // Bytes handed to the kernel.
  uint64_t bytes;
} traceloom_stats_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes signals that end the process wait until the writer has written everything, 2 s at most; then they do what they
// did before. 0, or -1 and a reason.
int traceloom_crash_handler(void);

// Begins a block, with a name of its own or an empty one; give the answer to `traceloom_span_end`.
//
// # Safety
//
// The site is a static of a header, and the name ends in a zero byte.
uint64_t traceloom_easy_begin(const traceloom_site_t *site, const char *name);

// Records an event, with a name of its own or an empty one.
//
// # Safety
//
// The site is a static of a header, and the name ends in a zero byte.
void traceloom_easy_event(const traceloom_site_t *site, const char *name);

// Records a value.
//
// # Safety
//
// As for [`traceloom_value`].
void traceloom_easy_value(const traceloom_site_t *site, const traceloom_value_t *value);

// Records a block whose times are known.
//
// # Safety
//
// The site is a static of a header, and the name ends in a zero byte.
void traceloom_easy_block(const traceloom_site_t *site, const char *name, uint64_t begin, uint64_t end);

// Captures blocks from now on, or stops it; what was captured waits for [`traceloom_easy_dump`].
int traceloom_easy_enable(bool is_enabled);

// Whether blocks are captured.
bool traceloom_easy_is_enabled(void);

// Stops capturing and writes what was captured to a file; gives the number of blocks, events and values, or 0.
//
// # Safety
//
// The path ends in a zero byte.
uint32_t traceloom_easy_dump(const char *filename);

// Lets EasyProfiler's GUI and `traceloom capture` capture this program over a port of this machine.
int traceloom_easy_listen(uint16_t port);

// Closes the port.
int traceloom_easy_stop_listen(void);

// Whether the port is open.
bool traceloom_easy_is_listening(void);

// Names this thread, once; gives the name that it has.
//
// # Safety
//
// The name ends in a zero byte.
const char *traceloom_easy_thread(const char *name);

// Whether this thread is called Main.
bool traceloom_easy_is_main_thread(void);

// A time of the frames of this thread, or of the thread that is called Main, in ticks.
uint64_t traceloom_easy_frame_time(int which, bool of_main);

// The time now, in ticks.
uint64_t traceloom_tick(void);

// Nanoseconds of so many ticks.
uint64_t traceloom_ticks_to_ns(uint64_t ticks);

// Why the last call of this thread that failed did so; valid until another one fails.
const char *traceloom_error(void);

// Records a log entry: a word per argument of the site, as the headers make them; texts are addresses.
//
// # Safety
//
// The site is a static of a header; there is a word for each of its types, and texts end in a zero byte.
void traceloom_log(const traceloom_site_t *site, const uint64_t *words);

// Records a log entry without arguments.
//
// # Safety
//
// As for [`traceloom_log`].
void traceloom_log_0(const traceloom_site_t *site);

// Records a log entry with one argument.
//
// # Safety
//
// As for [`traceloom_log`].
void traceloom_log_1(const traceloom_site_t *site, uint64_t a);

// Records a log entry with one argument, which is a text.
//
// # Safety
//
// As for [`traceloom_log`].
void traceloom_log_text(const traceloom_site_t *site, const char *text);

// Records a log entry with two arguments.
//
// # Safety
//
// As for [`traceloom_log`].
void traceloom_log_2(const traceloom_site_t *site, uint64_t a, uint64_t b);

// Records a log entry with three arguments.
//
// # Safety
//
// As for [`traceloom_log`].
void traceloom_log_3(const traceloom_site_t *site, uint64_t a, uint64_t b, uint64_t c);

// Records a log entry with four arguments.
//
// # Safety
//
// As for [`traceloom_log`].
void traceloom_log_4(const traceloom_site_t *site, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

// Starts, or adds these files to what is recorded already; 0, or -1 and a reason.
//
// # Safety
//
// The texts of the options end in zero bytes.
int traceloom_start(const traceloom_options_t *options);

// Writes everything and closes all files. Programs that end by `exit` need not call it.
int traceloom_stop(void);

// Waits until the kernel has everything that was recorded before: it survives the end of the process.
int traceloom_flush(void);

// Waits until the disk has everything that was recorded before: it survives a loss of power.
int traceloom_sync(void);

// Goes on in another log.
int traceloom_rotate(void);

// Turns sites on and off from now on: `info,src/net.c=debug,src/audio.c=off`.
//
// # Safety
//
// The text ends in a zero byte.
int traceloom_filter(const char *filter);

// Whether anything is recorded.
bool traceloom_is_recording(void);

// Makes the ring of this thread now, so that its first record does not have to.
void traceloom_prepare_thread(void);

// Counts since the start.
traceloom_stats_t traceloom_stats(void);

// Gives a level of your own (4 to 255) a name, and a rank among DEBUG 10, INFO 20, WARN 30 and ERROR 40 that filters go
// by. Levels are named before they are used; -1 if the number is taken by a built-in level.
//
// # Safety
//
// The name is a text that ends in a zero byte.
int traceloom_level(uint8_t number, uint8_t rank, const char *name);

// Begins a span on this thread, with a text of its own or NULL; give the answer to [`traceloom_span_end`].
//
// # Safety
//
// The site is a static of a header, and the text ends in a zero byte.
uint64_t traceloom_span_begin(const traceloom_site_t *site, const char *text);

// Ends a span of this thread and those inside it; nothing happens if it was ended before.
void traceloom_span_end(uint64_t span);

// Ends the span of this thread that was begun last.
void traceloom_span_end_last(void);

// Begins a frame; give its number to [`traceloom_frame_end`].
//
// # Safety
//
// The site is a static of a header.
uint64_t traceloom_frame_begin(const traceloom_site_t *site);

// Ends a frame.
//
// # Safety
//
// The site is the one that it was begun with.
void traceloom_frame_end(const traceloom_site_t *site, uint64_t frame);

// Records a moment, with a text or NULL.
//
// # Safety
//
// The site is a static of a header, and the text ends in a zero byte.
void traceloom_event(const traceloom_site_t *site, const char *text);

// Records a value.
//
// # Safety
//
// The site is a static of a header, and the value has as many bytes as it says.
void traceloom_value(const traceloom_site_t *site, const traceloom_value_t *value);

// Names this thread, for this recording and for later ones.
//
// # Safety
//
// The name is a text that ends in a zero byte.
void traceloom_thread_name(const char *name);

// Marks this moment with a text for people.
//
// # Safety
//
// The text ends in a zero byte.
void traceloom_bookmark(const char *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TRACELOOM_API_H */
