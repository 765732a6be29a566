//! Every rule of the real stream, in one table.
//!
//! Severity error means that Devel::NYTProf 6.12 refuses the file or dies because of it.

traceloom_core::rules! { "nytprof":
    VERSION_LINE "version-line" Note
        "the first line has text after the version: {text}";
    VERSION_NEWER "version-newer" Warning
        "the file has version {major}.{minor}, newer than 5.0; Devel::NYTProf warns and continues";
    EMPTY_PROFILE "empty-profile" Warning
        "the profile has no process: nothing was recorded";
    ATTRIBUTE_MALFORMED "attribute-malformed" Warning
        "the attribute {key} has no value; it is ignored";
    OPTION_MALFORMED "option-malformed" Warning
        "the option {key} has no value; it is ignored";
    ATTRIBUTE_REPEATED "attribute-repeated" Note
        "the attribute {key} occurs again, with the value {value}; the last value is used";
    TEXT_NUL "text-nul" Warning
        "a text line contains a NUL; Devel::NYTProf shows garbage after it";
    TEXT_LONG "text-long" Warning
        "a text line in the compressed part has {bytes} bytes; Devel::NYTProf corrupts lines longer than 8192 bytes";
    TEXT_STRADDLES "text-straddles" Warning
        "a text line crosses a multiple of 163840 decompressed bytes; Devel::NYTProf loses it";
    TICKS_MISSING "ticks-missing" Error Missing
        "the attribute ticks_per_sec is missing; 10000000 is assumed, but Devel::NYTProf divides by zero";
    TICKS_ZERO "ticks-zero" Error Missing
        "ticks_per_sec is {value}; 10000000 is assumed, but Devel::NYTProf divides by zero";
    TICKS_LATE "ticks-late" Warning
        "ticks_per_sec comes after the first statement; Devel::NYTProf divides the statements before it by zero";
    TICKS_CHANGE "ticks-change" Warning
        "ticks_per_sec changes from {from} to {to}; times before and after it are not comparable";
    NV_SIZE "nv-size" Error
        "numbers are {size} bytes wide; a perl with 8-byte numbers refuses the file";
    NV_SIZE_MISSING "nv-size-missing" Warning
        "the attribute nv_size is missing before the first number; assuming {found} bytes, which fit";
    NV_SIZE_WRONG "nv-size-wrong" Error
        "nv_size is {declared}, but the numbers have {found} bytes";
    NV_BIG_ENDIAN "nv-big-endian" Warning
        "numbers are big-endian; Devel::NYTProf reads them as little-endian and shows garbage";
    NV_NOT_FINITE "nv-not-finite" Warning
        "the field {field} is {value}, not a finite number";
    INTEGER_PADDED "integer-padded" Note
        "an integer is stored in more bytes than it needs";
    STRING_NOT_UTF8 "string-not-utf8" Warning
        "a string is marked as UTF-8 but is not";
    UNKNOWN_TAG "unknown-tag" Error Missing
        "unknown record tag {tag}; {skipped}";
    STRING_TAG "string-tag" Error Missing
        "expected a string, found {tag}; the rest cannot be read";
    TRUNCATED "truncated" Error Missing
        "the file ends inside a {record} record: {needed} bytes needed, {left} left; repair drops the partial record and ends the file properly";
    ZLIB_HEADER "zlib-header" Error Missing
        "the compressed part is {found}, not zlib";
    ZLIB_TRUNCATED "zlib-truncated" Error Missing
        "the compressed part ends early: the run was killed or the copy was cut off; all {bytes} decompressed bytes are read, and repair ends the file properly";
    ZLIB_DAMAGED "zlib-damaged" Error Missing
        "the compressed part is damaged ({reason}); {bytes} bytes before that are read";
    ZLIB_CHECKSUM "zlib-checksum" Error Missing
        "the checksum of the compressed part is wrong; all its {bytes} bytes are read";
    ZLIB_NESTED "zlib-nested" Error Missing
        "a compressed part starts inside the compressed part; the rest cannot be read";
    ZLIB_TRAILING "zlib-trailing" Note
        "the compressed part is followed by {bytes} bytes that are not the profiler's closing lines";
    PID_UNKNOWN "pid-unknown" Warning
        "process {pid} ends but never started";
    PID_NESTED "pid-nested" Note
        "process {pid} starts before process {open} has ended";
    PID_UNFINISHED "pid-unfinished" Warning
        "processes without an end: {count} (first: {pid}); the run was cut short";
    FID_REDEFINED "fid-redefined" Warning
        "file {fid} is defined again, as {name}; the last definition is used";
    FID_UNDEFINED "fid-undefined" Error Missing
        "a {record} record is in file {fid}, which is not defined; Devel::NYTProf dies";
    FID_ZERO "fid-zero" Warning
        "a statement is in file 0, which does not exist";
    FID_STRAY "fid-stray" Warning
        "a {record} record is in file {fid}, which is not defined";
    FID_GAP "fid-gap" Error
        "file numbers have a gap at {fid}; Devel::NYTProf dies";
    EVAL_PARENT "eval-parent" Warning
        "eval {fid} comes before its file {parent}; Devel::NYTProf does not link the two";
    EVAL_SELF "eval-self" Warning
        "eval {fid} names itself as the file that contains it";
    DISCOUNT_TWICE "discount-twice" Warning
        "two DISCOUNT records precede one statement; only one is counted";
    DISCOUNT_UNUSED "discount-unused" Note
        "a discount is not followed by a statement; it is ignored";
    TICKS_NEGATIVE "ticks-negative" Warning
        "a statement took {ticks} ticks: either the counter wrapped and the real time was about {seconds} s, or the clock went backward";
    LINE_HUGE "line-huge" Warning
        "a {record} record is on line {line}; Devel::NYTProf allocates an array of all lines and may run out of memory";
    TIMES_EXCEED "times-exceed" Warning
        "the statements add up to {percent} % of the profiled time; the clock may have wrapped";
    SUB_REPEATED "sub-repeated" Warning
        "sub {name} is described again; the description with the lower file number is used";
    SUB_HOMELESS "sub-homeless" Note
        "subs that are called but not described: {count}; Devel::NYTProf puts them into file 1";
    SUB_NEGATIVE "sub-negative" Note
        "calls to {name} took a negative time: {seconds} s";
    DEPTH_HUGE "depth-huge" Warning
        "a sub returns from depth {depth}; nytprofcalls needs memory for every level";
    OVERHEAD_MISSING "overhead-missing" Warning
        "the attribute cumulative_overhead_ticks is missing; 0 is assumed";
}
