//! Every rule of the dialect, in one table.
//!
//! Severity error means that the file breaks a documented rule of Pynytprof.

traceloom_core::rules! { "pynytprof":
    ANCESTOR "ancestor" Error
        "the file has the binary header that early versions wrote instead of the specification's text lines";
    VERSION "version" Error
        "the first line is {text}, not NYTProf 5 0";
    COMMENT_MISSING "comment-missing" Note
        "no comment names Pynytprof as the producer";
    LINE_MALFORMED "line-malformed" Warning
        "the line {text} has no value; it is ignored";
    ATTRIBUTE_MISSING "attribute-missing" Error
        "the attribute {key} is missing";
    OPTION_MISSING "option-missing" Error
        "the option {key} is missing";
    TICKS_PER_SEC "ticks-per-sec" Error
        "ticks_per_sec is {value}; the specification requires 10000000, which is assumed";
    NV_SIZE "nv-size" Warning
        "nv_size is {value}, but the numbers have 8 bytes";
    BLANK_LINE "blank-line" Error
        "an empty line precedes the binary part";
    ZLIB "zlib" Note
        "the binary part is compressed, which the specification only plans";
    ZLIB_DAMAGED "zlib-damaged" Error Missing
        "the compressed part is {reason}; {bytes} bytes of it are read";
    PROCESS_MISSING "process-missing" Error Missing
        "the process record is missing";
    PROCESS_LENGTH "process-length" Error
        "the process record includes a length: 21 bytes in total instead of the specification's 17";
    PROCESS_INTEGERS "process-integers" Error
        "the process record stores variable-length numbers; the specification requires 4 bytes each";
    PROCESS_FIELDS "process-fields" Error
        "the process record stores its time {field}; the specification stores it last, in seconds";
    PROCESS_TIME "process-time" Warning
        "the process started at {time}, which is not a likely time of day";
    TOKENS "tokens" Error
        "records in NYTProf's stream format follow the process record";
    FRAMING "framing" Error
        "chunk {tag} is stored without its {missing}";
    CHUNK_ORDER "chunk-order" Error
        "chunk {tag} comes after chunk {before}; the specification's order is P S D C E";
    CHUNK_REPEATED "chunk-repeated" Error
        "chunk {tag} occurs again";
    CHUNK_MISSING "chunk-missing" Error Missing
        "chunk {tag} is missing";
    CHUNK_FOREIGN "chunk-foreign" Error
        "there is a chunk {tag}, which the specification says is never written";
    CHUNK_UNKNOWN "chunk-unknown" Error Missing
        "unknown chunk tag {tag}; the rest cannot be read";
    CHUNK_FORM "chunk-form" Error
        "chunk {tag} holds {form}, not its documented contents";
    CHUNK_LENGTH "chunk-length" Error Missing
        "chunk {tag} declares {length} bytes, which does not match its records";
    TRUNCATED "truncated" Error Missing
        "the file ends inside {what}: {needed} bytes needed, {left} left; repair drops the partial data and ends the file properly";
    FLAGS "flags" Warning
        "sub {sid} has the flags {flags}; the specification says 0 for now";
    NAME "name" Error Missing
        "the name of sub {sid} is not UTF-8 or contains control characters";
    SUB_REPEATED "sub-repeated" Warning
        "sub {sid} is described again, as {name}";
    SUB_UNKNOWN "sub-unknown" Warning
        "calls refer to sub {sid}, which has no name";
    NEWLINE_DAMAGE "newline-damage" Warning Missing
        "{bytes} bytes of chunks contain no byte 0a: Pynytprof's Python writer replaces every 0a with 01, even inside numbers, so values may be wrong";
    END_MISSING "end-missing" Error Missing
        "the terminator E is missing";
    END_REPEATED "end-repeated" Error
        "there is another terminator E";
    END_NOT_EMPTY "end-not-empty" Error
        "the terminator E has {length} bytes; it should be empty";
    AFTER_END "after-end" Error
        "{bytes} bytes follow the terminator E";
}
