//! Field numbers of Perfetto's messages, spelled as Perfetto spells them.

pub(super) mod trace {
    pub(in super::super) const PACKET: u32 = 1;
}

pub(super) mod packet {
    pub(in super::super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(in super::super) const TIMESTAMP: u32 = 8;
    pub(in super::super) const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    pub(in super::super) const TRACK_EVENT: u32 = 11;
    pub(in super::super) const INTERNED_DATA: u32 = 12;
    pub(in super::super) const SEQUENCE_FLAGS: u32 = 13;
    pub(in super::super) const TRACK_DESCRIPTOR: u32 = 60;

    pub(in super::super) const SEQ_INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub(in super::super) const SEQ_NEEDS_INCREMENTAL_STATE: u64 = 2;
}

pub(super) mod clock {
    pub(in super::super) const CLOCKS: u32 = 1;
    pub(in super::super) const CLOCK_ID: u32 = 1;
    pub(in super::super) const TIMESTAMP: u32 = 2;

    pub(in super::super) const REALTIME: u64 = 1;
    pub(in super::super) const BOOTTIME: u64 = 6;
}

pub(super) mod descriptor {
    pub(in super::super) const UUID: u32 = 1;
    pub(in super::super) const NAME: u32 = 2;
    pub(in super::super) const PROCESS: u32 = 3;
    pub(in super::super) const THREAD: u32 = 4;
    pub(in super::super) const PARENT_UUID: u32 = 5;
    pub(in super::super) const COUNTER: u32 = 8;

    pub(in super::super) const PROCESS_PID: u32 = 1;
    pub(in super::super) const PROCESS_NAME: u32 = 6;
    pub(in super::super) const THREAD_PID: u32 = 1;
    pub(in super::super) const THREAD_TID: u32 = 2;
    pub(in super::super) const THREAD_NAME: u32 = 5;
    pub(in super::super) const COUNTER_UNIT: u32 = 3;

    pub(in super::super) const UNIT_COUNT: u64 = 2;
    pub(in super::super) const UNIT_SIZE_BYTES: u64 = 3;
}

pub(super) mod event {
    pub(in super::super) const CATEGORY_IIDS: u32 = 3;
    pub(in super::super) const DEBUG_ANNOTATIONS: u32 = 4;
    pub(in super::super) const TYPE: u32 = 9;
    pub(in super::super) const NAME_IID: u32 = 10;
    pub(in super::super) const TRACK_UUID: u32 = 11;
    pub(in super::super) const LOG_MESSAGE: u32 = 21;
    pub(in super::super) const CATEGORIES: u32 = 22;
    pub(in super::super) const NAME: u32 = 23;
    pub(in super::super) const COUNTER_VALUE: u32 = 30;
    pub(in super::super) const SOURCE_LOCATION_IID: u32 = 34;
    pub(in super::super) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(in super::super) const FLOW_IDS: u32 = 47;
    pub(in super::super) const TERMINATING_FLOW_IDS: u32 = 48;

    pub(in super::super) const TYPE_SLICE_BEGIN: u64 = 1;
    pub(in super::super) const TYPE_SLICE_END: u64 = 2;
    pub(in super::super) const TYPE_INSTANT: u64 = 3;
    pub(in super::super) const TYPE_COUNTER: u64 = 4;
}

pub(super) mod annotation {
    pub(in super::super) const NAME_IID: u32 = 1;
    pub(in super::super) const UINT_VALUE: u32 = 3;
    pub(in super::super) const INT_VALUE: u32 = 4;
    pub(in super::super) const DOUBLE_VALUE: u32 = 5;
    pub(in super::super) const STRING_VALUE: u32 = 6;
    pub(in super::super) const NAME: u32 = 10;
    pub(in super::super) const ARRAY_VALUES: u32 = 12;
}

pub(super) mod interned {
    pub(in super::super) const EVENT_CATEGORIES: u32 = 1;
    pub(in super::super) const EVENT_NAMES: u32 = 2;
    pub(in super::super) const DEBUG_ANNOTATION_NAMES: u32 = 3;
    pub(in super::super) const SOURCE_LOCATIONS: u32 = 4;
    pub(in super::super) const LOG_MESSAGE_BODY: u32 = 20;

    /// The same in all of them.
    pub(in super::super) const IID: u32 = 1;
    /// The name, the body or the file.
    pub(in super::super) const TEXT: u32 = 2;
    pub(in super::super) const LINE_NUMBER: u32 = 4;
}

pub(super) mod log {
    pub(in super::super) const SOURCE_LOCATION_IID: u32 = 1;
    pub(in super::super) const BODY_IID: u32 = 2;
    pub(in super::super) const PRIO: u32 = 3;
}
