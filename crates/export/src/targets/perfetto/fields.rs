//! Field numbers of Perfetto's messages, spelled as Perfetto spells them.

use crate::wire::messages;

messages! {
    trace { PACKET = 1 }

    packet {
        CLOCK_SNAPSHOT = 6, TIMESTAMP = 8, TRUSTED_PACKET_SEQUENCE_ID = 10, TRACK_EVENT = 11, INTERNED_DATA = 12,
        SEQUENCE_FLAGS = 13, TRACK_DESCRIPTOR = 60;
        SEQ_INCREMENTAL_STATE_CLEARED = 1, SEQ_NEEDS_INCREMENTAL_STATE = 2
    }

    clock {
        CLOCKS = 1, CLOCK_ID = 1, TIMESTAMP = 2;
        REALTIME = 1, BOOTTIME = 6
    }

    descriptor {
        UUID = 1, NAME = 2, PROCESS = 3, THREAD = 4, PARENT_UUID = 5, COUNTER = 8, PROCESS_PID = 1,
        PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5, COUNTER_UNIT = 3;
        UNIT_COUNT = 2, UNIT_SIZE_BYTES = 3
    }

    event {
        CATEGORY_IIDS = 3, DEBUG_ANNOTATIONS = 4, TYPE = 9, NAME_IID = 10, TRACK_UUID = 11, LOG_MESSAGE = 21,
        CATEGORIES = 22, NAME = 23, COUNTER_VALUE = 30, SOURCE_LOCATION_IID = 34, DOUBLE_COUNTER_VALUE = 44,
        FLOW_IDS = 47, TERMINATING_FLOW_IDS = 48;
        TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4
    }

    annotation {
        NAME_IID = 1, UINT_VALUE = 3, INT_VALUE = 4, DOUBLE_VALUE = 5, STRING_VALUE = 6, NAME = 10,
        ARRAY_VALUES = 12
    }

    interned {
        EVENT_CATEGORIES = 1, EVENT_NAMES = 2, DEBUG_ANNOTATION_NAMES = 3, SOURCE_LOCATIONS = 4,
        LOG_MESSAGE_BODY = 20,
        /// The same in all these messages.
        IID = 1,
        /// The name, the body or the file.
        TEXT = 2,
        LINE_NUMBER = 4
    }

    log { SOURCE_LOCATION_IID = 1, BODY_IID = 2, PRIO = 3 }
}
