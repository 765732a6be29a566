//! The fields of the header and of each record, for dumps.

use traceloom_core::{Describe, Fields};

use crate::{
    Descriptor, Header, Name, Record, Value,
    raw::{BlockType, DataType},
};

impl Describe for Header {
    fn kind(&self) -> &'static str {
        "header"
    }

    fn describe(&self, fields: &mut dyn Fields) {
        fields.word("version", &self.version.to_string());
        fields.word("byte_order", self.layout.order.as_str());
        if let Some(pid) = self.pid {
            fields.unsigned("pid", pid);
        }
        fields.signed("cpu_frequency", self.cpu_frequency);
        fields.unsigned("begin_time", self.begin_time);
        fields.unsigned("end_time", self.end_time);
        fields.unsigned("memory_size", self.memory_size);
        fields.unsigned("descriptors_memory_size", self.descriptors_memory_size);
        fields.unsigned("blocks_count", self.blocks_count.into());
        fields.unsigned("descriptors_count", self.descriptors_count.into());
        let counted = [
            ("threads_count", self.threads_count),
            ("bookmarks_count", self.bookmarks_count.map(u32::from)),
            ("padding", self.padding.map(u32::from)),
        ];
        for (name, value) in counted {
            if let Some(value) = value {
                fields.unsigned(name, value.into());
            }
        }
    }
}

impl Describe for Record<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Descriptor(_) => "descriptor",
            Self::Hole => "hole",
            Self::Thread(_) => "thread",
            Self::Switch(_) => "switch",
            Self::Blocks(_) => "blocks",
            Self::Block(block) if block.block_type == BlockType::EVENT => "event",
            Self::Block(_) => "block",
            Self::Value(_) => "value",
            Self::Mark(_) => "mark",
            Self::Bookmark(_) => "bookmark",
            Self::Malformed(_) => "malformed",
            Self::Residue(_) => "residue",
        }
    }

    fn describe(&self, fields: &mut dyn Fields) {
        match self {
            Self::Descriptor(descriptor) => descriptor.describe(fields),
            Self::Hole => {}
            Self::Thread(thread) => {
                fields.unsigned("id", thread.id);
                thread.name.describe("name", "name_tail", fields);
                fields.unsigned("switches", thread.switches.into());
            }
            Self::Switch(switch) => {
                fields.unsigned("begin", switch.begin);
                fields.unsigned("end", switch.end);
                fields.unsigned("target", switch.target);
                switch.name.describe("name", "name_tail", fields);
                describe_odd("size", switch.odd_size, fields);
            }
            Self::Blocks(count) => fields.unsigned("count", (*count).into()),
            Self::Block(block) => {
                fields.unsigned("begin", block.begin);
                fields.unsigned("end", block.end);
                fields.unsigned("descriptor", block.descriptor.into());
                block.name.describe("name", "name_tail", fields);
                describe_odd("size", block.odd_size, fields);
            }
            Self::Value(value) => value.describe(fields),
            Self::Mark(mark) => fields.hex("value", (*mark).into()),
            Self::Bookmark(bookmark) => {
                fields.unsigned("position_ns", bookmark.position_ns);
                fields.hex("color", bookmark.color.into());
                bookmark.text.describe("text", "text_tail", fields);
                describe_odd("size", bookmark.odd_size, fields);
            }
            Self::Malformed(bytes) | Self::Residue(bytes) => fields.bytes("bytes", bytes),
        }
    }
}

impl Descriptor<'_> {
    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("id", self.id.into());
        fields.signed("line", self.line.into());
        fields.hex("color", self.color.into());
        fields.word("type", &self.block_type.to_string());
        fields.word("status", &self.status.to_string());
        self.name.describe("name", "name_tail", fields);
        self.file.describe("file", "file_tail", fields);
        describe_odd("size", self.odd_size, fields);
        describe_odd("name_size", self.odd_name_size, fields);
    }
}

impl Value<'_> {
    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("begin", self.begin);
        if self.end != self.begin {
            fields.unsigned("end", self.end);
        }
        fields.unsigned("descriptor", self.descriptor.into());
        fields.word("type", &self.data_type.to_string());
        fields.flag("array", self.is_array != 0);
        fields.hex("value_id", self.value_id);
        match self.data_type {
            DataType::STRING => fields.text("data", self.data),
            _ if self.elements().is_none() => fields.bytes("data", self.data),
            _ => {
                fields.list("data");
                self.elements().into_iter().flatten().for_each(|element| element.describe(fields));
                fields.end();
            }
        }
        if self.filler != [0, 0] {
            fields.bytes("filler", &self.filler);
        }
        if self.is_array > 1 {
            fields.unsigned("is_array", self.is_array.into());
        }
        if !self.surplus.is_empty() {
            fields.bytes("surplus", self.surplus);
        }
        describe_odd("data_size", self.odd_data_size, fields);
        describe_odd("size", self.odd_size, fields);
    }
}

impl Name<'_> {
    fn describe(&self, name: &'static str, tail: &'static str, fields: &mut dyn Fields) {
        fields.text(name, self.text);
        if !self.is_canonical() {
            fields.bytes(tail, self.tail);
        }
    }
}

fn describe_odd(name: &'static str, size: Option<u16>, fields: &mut dyn Fields) {
    if let Some(size) = size {
        fields.unsigned(name, size.into());
    }
}
