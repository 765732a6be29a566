//! Every rule of the format, in one table.
//!
//! Severity error means that the reader of easy_profiler 2.1.0 refuses the file because of it.

traceloom_core::rules! { "easyprofiler":
    BIG_ENDIAN "big-endian" Error
        "the file is big-endian; easy_profiler reads it only on a machine of that byte order";
    DOCUMENT_SIGNATURE "document-signature" Error
        "the signature bytes are 45 61 73 79 although the numbers are little-endian, as in the specification";
    DOCUMENT_PID "document-pid" Error
        "the header of version {version} has a 4-byte process id, as in the specification; real files have none";
    DOCUMENT_THREAD_ID "document-thread-id" Error
        "thread ids are 8 bytes wide in version {version}, as in the specification; real files have 4";
    DOCUMENT_SWITCH "document-switch" Warning
        "context switches are stored as target, begin, end, as in the specification; easy_profiler misreads them";
    DOCUMENT_SIZE "document-size" Error
        "record sizes count their own 2-byte prefix, as in the specification";
    SIZE_DISAGREES "size-disagrees" Error
        "record sizes do not match their contents; strings are read up to their NUL";
    HEADER_CUT "header-cut" Error Missing
        "the file ends inside the header: {found} of {expected} bytes; the rest counts as zero";
    EMPTY_PROFILE "empty-profile" Error Missing
        "the profile is empty: {blocks} blocks in {bytes} bytes; were all blocks still open when it was saved?";
    NO_DESCRIPTORS "no-descriptors" Error Missing
        "the header declares no descriptors: count {count}, size {bytes} bytes";
    NO_THREADS "no-threads" Error Missing
        "the header declares no threads";
    PADDING "padding" Error
        "the header's padding is {found}, not 0";
    DESCRIPTOR_SHORT "descriptor-short" Warning
        "descriptor {index} has {size} bytes but needs at least 16; it is skipped";
    DESCRIPTOR_NAME "descriptor-name" Warning
        "descriptor {index} claims a name of {declared} bytes, but it has {found}";
    DESCRIPTOR_ID "descriptor-id" Note
        "descriptor {index} has the id {id}; blocks refer to descriptors by index, so the id is ignored";
    DESCRIPTOR_TYPE "descriptor-type" Warning
        "descriptor {index} has the unknown type {type}; its records are shown as events";
    DESCRIPTORS_MEMORY "descriptors-memory" Warning
        "the header declares {declared} bytes of descriptors, but they have {found}; easy_profiler overruns its buffer";
    MISSING_NUL "missing-nul" Warning
        "the {what} has no closing NUL";
    SURPLUS "surplus" Note
        "{bytes} bytes follow the NUL of the {what}";
    SWITCH_SIZE_ZERO "switch-size-zero" Error Missing
        "a context switch has size 0";
    SWITCH_SHORT "switch-short" Warning Missing
        "a context switch has {size} bytes but needs at least {needed}; it is skipped";
    BLOCK_SIZE_ZERO "block-size-zero" Error Missing
        "a block has size 0";
    BLOCK_SHORT "block-short" Warning Missing
        "a block has {size} bytes but needs at least 20; it is skipped";
    RESYNCED "resynced" Error Missing
        "{bytes} bytes cannot be read as a {what} and are skipped; reading continues at byte {next}";
    NO_NUMBER "no-name" Warning
        "a block has no name field, not even a NUL";
    DESCRIPTOR_MISSING "descriptor-missing" Error Missing
        "a block refers to descriptor {descriptor}, but there are only {count}";
    DESCRIPTOR_HOLE "descriptor-hole" Error Missing
        "a block refers to descriptor {descriptor}, which is empty";
    VALUE_SHORT "value-short" Warning Missing
        "a value has {size} bytes but needs at least 34; it is shown as an event";
    VALUE_SIZE "value-size" Warning
        "a value claims {declared} bytes of data, but it has {found}";
    VALUE_TYPE "value-type" Warning
        "a value has the unknown type {type}";
    VALUE_WIDTH "value-width" Warning Missing
        "a value has {found} bytes of data, but its type {type} needs {needed}; easy_profiler reads beyond them";
    VALUE_TEXT "value-text" Note
        "the text of a value is not UTF-8; it is shown as Latin-1";
    NEGATIVE_DURATION "negative-duration" Warning
        "a {what} ends at {end}, before its start at {begin}";
    BEFORE_CAPTURE "before-capture" Warning
        "a {what} ended at {end}, before the capture started at {begin}; easy_profiler drops it";
    MEMORY_SIZE "memory-size" Error
        "the records need more than the {declared} bytes that the header declares";
    TRUNCATED "truncated" Warning Missing
        "the file ends inside a {what}: {needed} bytes needed, {left} left";
    RECORDS_MISSING "records-missing" Error Missing
        "the file ends, but thread {thread} declares {left} more records";
    THREADS_MISSING "threads-missing" Warning Missing
        "the header declares {expected} threads, but the file ends after {found}";
    THREADS_MARK_EARLY "threads-mark-early" Warning Missing
        "the end mark comes after {found} threads, but the header declares {expected}";
    COUNT_MISMATCH "count-mismatch" Error Missing
        "the header counts {expected} blocks and switches, but there are {found}";
    TOO_DEEP "too-deep" Error
        "blocks are nested {levels} deep; easy_profiler stops at 255 levels";
    THREADS_MARK "threads-mark" Error Missing
        "the mark after the threads is {found}, not 0x45617379";
    DOCUMENT_MARK_EARLY_VERSION "document-mark-version" Warning
        "a mark ends the threads of version {version}, as in the specification; real files before 2.1.0 have none";
    DOCUMENT_MARK_U64 "document-mark-u64" Warning
        "the mark after the threads is 8 bytes wide, as in the specification; easy_profiler sees 4 surplus bytes";
    DOCUMENT_MARK_U64_BOOKMARKS "document-mark-u64-bookmarks" Error
        "the mark before the bookmarks is 8 bytes wide, as in the specification; easy_profiler reads its end as a bookmark";
    DOCUMENT_SECOND_MARK "document-second-mark" Warning
        "a second mark follows although the file has no bookmarks, as in the specification";
    BOOKMARK_SHORT "bookmark-short" Error Missing
        "a bookmark has {size} bytes but needs at least 13; it is skipped";
    BOOKMARK_NUL "bookmark-nul" Error
        "a bookmark's text has no closing NUL";
    DOCUMENT_MARK_TYPO "document-mark-typo" Error
        "the mark after the bookmarks is 0x45617329, as the specification misspells it";
    BOOKMARKS_MARK "bookmarks-mark" Error Missing
        "the mark after the bookmarks is {found}, not 0x45617379";
    TRAILING "trailing" Note
        "{bytes} bytes follow the end of the file's contents";
}
