//! Every rule of the format, in one table.
//!
//! Severity error means that the documented reader (sections 5, 7 and 8) or CNanoLog itself refuses the file because of
//! it.

traceloom_core::rules! { "cnanolog":
    HEADER_CUT "header-cut" Error Missing
        "the file ends inside the header: {found} of 64 bytes; the rest counts as zero";
    MAGIC "magic" Error
        "the file does not start with the magic number: {found}, not 0x4e414e4f";
    DOCUMENT_MAGIC "document-magic" Warning
        "the magic bytes are NANO although the numbers are little-endian, as in the specification; CNanoLog's decompressor refuses the file";
    ENDIANNESS "endianness" Error
        "the endianness marker is {found}, not 0x01020304; the file is read as {order}";
    BIG_ENDIAN "big-endian" Note
        "the file is big-endian; CNanoLog's decompressor reads it only on a machine of that byte order";
    MAJOR_VERSION "major-version" Error Missing
        "the file has major version {found}; only version 1 is known";
    MINOR_VERSION "minor-version" Warning
        "the file has the newer minor version {major}.{minor}; it is read as 1.3";
    RESERVED "reserved" Warning
        "reserved bytes of the {what} are not zero";
    BLOCK_FLAGS "block-flags" Error
        "the header has the flags {found}, but {truth}";
    BLOCK_HEAD "block-head" Error
        "the head of a block of {bytes} bytes is damaged: {reason}; its contents are complete";
    BLOCK_DAMAGED "block-damaged" Error Missing
        "a block of {bytes} bytes is damaged: {reason}; its contents {consequence}";
    BLOCK_LOST "block-lost" Error Missing
        "no block starts here: {reason}; {bytes} bytes are skipped, {consequence}";
    FLAGS "flags" Warning
        "the header has unknown flags: {found}";
    START_NANOSECONDS "start-nanoseconds" Warning
        "the start time has {found} nanoseconds; expected 0 to 999999999";
    FREQUENCY "frequency" Warning
        "entries have timestamps but the frequency is 0; ticks are read as nanoseconds";
    DICTIONARY_OFFSET "dictionary-offset" Error
        "the header places the dictionary at {offset}, but the file has only {bytes} bytes";
    DICTIONARY_OFFSET_ZERO "dictionary-offset-zero" Warning
        "the header does not say where the dictionary is; it was found at {offset}";
    DICTIONARY_MAGIC "dictionary-magic" Error
        "no dictionary at {offset}: the magic is {found}, not 0x44494354";
    DICTIONARY_FOUND "dictionary-found" Warning
        "a dictionary was found at {offset}";
    NO_DICTIONARY "no-dictionary" Error Missing
        "the dictionary is missing: {reason}; {consequence}";
    DICTIONARY_SUPPLIED "dictionary-supplied" Note
        "using the {sites} sites from another file of the same run";
    DICTIONARY_FOREIGN "dictionary-foreign" Warning
        "using the {sites} sites from another run; sites are numbered in order of first use, so an entry may show the message of a different call";
    DICTIONARY_UNUSED "dictionary-unused" Note
        "the file has its own dictionary; the supplied one is not used";
    DICTIONARY_MISFIT "dictionary-misfit" Error Missing
        "the supplied dictionary does not fit: of {entries} entries, {unknown} have unknown ids and {misfits} have arguments that do not match their sites; {sites} sites are not used";
    DICTIONARY_CUT "dictionary-cut" Error Missing
        "the dictionary declares {expected} sites, but only {found} can be read";
    DICTIONARY_SIZE "dictionary-size" Warning
        "the dictionary claims {declared} bytes, but it has {found}";
    LEVELS_CUT "levels-cut" Error Missing
        "the level section declares {expected} levels, but only {found} can be read";
    LEVELS_SIZE "levels-size" Warning
        "the level section claims {declared} bytes, but it has {found}";
    LEVEL_NAME "level-name" Error
        "the name of level {level} has {bytes} bytes; CNanoLog's decompressor reads at most 31";
    LEVEL_NUMBER "level-number" Note
        "custom level {level} has the number of a built-in level; the built-in name is shown";
    TOO_MANY_ARGUMENTS "too-many-arguments" Error Missing
        "site {id} has {found} arguments, but its type table has room for {most}";
    TYPES_RECOVERED "types-recovered" Warning
        "the type table of site {id} is invalid: {stored}; using {recovered}, which fits its format string and entries";
    TYPES_UNUSABLE "types-unusable" Warning
        "the type table of site {id} is invalid: {stored}; its arguments are shown as raw bytes";
    DUPLICATE_ID "duplicate-id" Warning
        "duplicate site ids: {count}; the last site with an id is used";
    SPARSE_IDS "sparse-ids" Warning
        "site ids do not match their positions in the dictionary; CNanoLog's decompressor looks up sites by position";
    UNKNOWN_ID "unknown-id" Error Missing
        "an entry has the unknown id {id}; the dictionary has {sites} sites";
    ENTRY_OVERRUN "entry-overrun" Error Missing
        "an entry claims {bytes} bytes of arguments, but {left} are left";
    ENTRY_LENGTH "entry-length" Warning
        "an entry claims {bytes} bytes of arguments, but other entries are inside them";
    ZEROS "zeros" Warning Missing
        "zeros instead of an entry: this part of the file was never written";
    ENTRY_CUT "entry-cut" Warning Missing
        "the entries end inside an entry header: {needed} bytes needed, {left} left";
    RESYNCED "resynced" Warning Missing
        "{bytes} unreadable bytes are skipped; entries continue after them";
    ARGUMENTS "arguments" Warning
        "the {bytes} bytes of arguments do not fit the types of site {id}; they are shown as raw bytes";
    SIGN_LOST "sign-lost" Warning
        "a 64-bit argument of site {id} may have lost its sign when it was packed; the positive number is shown";
    COUNT_MISMATCH "count-mismatch" Warning
        "the header counts {expected} entries, but there are {found}; CNanoLog's decompressor stops after the header's number";
    COUNT_WRAPPED "count-wrapped" Note
        "the header's count of {expected} has wrapped; the file has {found} entries";
    GAP "gap" Warning
        "{bytes} bytes between the sections belong to neither";
    ANOTHER_LOG "another-log" Warning Missing
        "another log starts here; its {bytes} bytes are not read, and can be opened as a separate file";
    TRAILING "trailing" Note
        "{bytes} bytes follow the dictionary";
}
