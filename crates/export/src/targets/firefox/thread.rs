//! The tables of one thread.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{Result, text::json::push_string};

use super::column::Column;
use traceloom_passes::{Frames, LookId, Looks, NameId, NamePool, check_frames as check};

/// Whether a marker has a duration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    Instant = 0,
    Interval = 1,
}

/// A marker without its details.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    pub(super) name: NameId,
    pub(super) category: NameId,
    pub(super) start_ns: u64,
    /// `None` if it is a point.
    pub(super) end_ns: Option<u64>,
}

/// Identifies a thread.
#[derive(Debug)]
pub(super) struct Identity<'a> {
    pub(super) name: &'a str,
    pub(super) process_name: &'a str,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) is_main: bool,
}

/// Samples and markers, and the tables that they refer to.
#[derive(Debug)]
pub(super) struct Tables {
    frames: Frames,
    /// The stack below, and the frame.
    stacks: Vec<(Option<u32>, u32)>,
    stack_numbers: HashMap<(Option<u32>, u32), u32>,
    strings: HashMap<NameId, u32>,
    texts: Vec<NameId>,
    sample_stacks: Column,
    sample_times: Column,
    sample_weights: Column,
    samples: u64,
    last_ns: Option<u64>,
    marker_names: Column,
    marker_starts: Column,
    marker_ends: Column,
    marker_phases: Column,
    marker_categories: Column,
    marker_data: Column,
    markers: u64,
    max: usize,
}

impl Tables {
    pub(super) fn new(max: usize) -> Self {
        Self {
            frames: Frames::new(max),
            stacks: Vec::new(),
            stack_numbers: HashMap::new(),
            strings: HashMap::new(),
            texts: Vec::new(),
            sample_stacks: Column::default(),
            sample_times: Column::default(),
            sample_weights: Column::default(),
            samples: 0,
            last_ns: None,
            marker_names: Column::default(),
            marker_starts: Column::default(),
            marker_ends: Column::default(),
            marker_phases: Column::default(),
            marker_categories: Column::default(),
            marker_data: Column::default(),
            markers: 0,
            max,
        }
    }

    /// The stack of a span with this look, on top of another one.
    pub(super) fn stack(&mut self, below: Option<u32>, look: LookId, looks: &mut Looks) -> Result<u32> {
        let frame = self.frames.of_look(look, looks)?;
        check("distinct stacks", self.stacks.len(), self.max)?;
        let stacks = &mut self.stacks;
        Ok(*self.stack_numbers.entry((below, frame)).or_insert_with(|| {
            stacks.push((below, frame));
            stacks.len() as u32 - 1
        }))
    }

    /// Adds a sample: this stack from `at_ns` on, for `dur_ns`.
    pub(super) fn sample(&mut self, stack: Option<u32>, at_ns: u64, dur_ns: u64) -> Result<()> {
        self.samples += 1;
        self.last_ns = Some(at_ns);
        self.sample_stacks.maybe(stack)?;
        self.sample_times.millis(at_ns)?;
        self.sample_weights.millis(dur_ns)
    }

    /// Adds a sample without a stack at a time after all samples so far: the page shows the time from the first sample
    /// to the last, and would leave out markers and memory in use before and after.
    pub(super) fn reach(&mut self, at_ns: Option<u64>) -> Result<()> {
        match at_ns.filter(|at_ns| self.last_ns.is_none_or(|last_ns| last_ns < *at_ns)) {
            Some(at_ns) => self.sample(None, at_ns, 0),
            None => Ok(()),
        }
    }

    pub(super) fn marker(&mut self, marker: &Marker, details: &str, names: &mut NamePool) -> Result<()> {
        self.markers += 1;
        let name = self.text(marker.name)?;
        self.marker_names.number(name.into())?;
        self.marker_starts.millis(marker.start_ns)?;
        let phase = match marker.end_ns {
            Some(end_ns) => {
                self.marker_ends.millis(end_ns)?;
                Phase::Interval
            }
            None => {
                self.marker_ends.maybe(None)?;
                Phase::Instant
            }
        };
        self.marker_phases.number(phase as u64)?;
        self.marker_categories.number(0)?;
        let category = names.get(marker.category)?;
        self.marker_data.push(|out| {
            out.extend_from_slice(br#"{"type":"traceloom","kind":"#);
            push_string(out, category);
            if !details.is_empty() {
                out.extend_from_slice(br#","details":"#);
                push_string(out, details);
            }
            out.push(b'}');
        })
    }

    /// Writes the thread as an object.
    pub(super) fn write(mut self, who: &Identity<'_>, names: &mut NamePool, out: &mut dyn Write) -> Result<()> {
        let mut head = br#"{"processType":"default","processStartupTime":0,"processShutdownTime":null,"#.to_vec();
        head.extend_from_slice(br#""registerTime":0,"unregisterTime":null,"pausedRanges":[],"name":"#);
        push_string(&mut head, who.name);
        head.extend_from_slice(br#","processName":"#);
        push_string(&mut head, who.process_name);
        out.write_all(&head)?;
        write!(out, r#","isMainThread":{},"pid":"{}","tid":{}"#, who.is_main, who.pid, who.tid)?;
        write!(out, r#","samples":{{"length":{},"weightType":"tracing-ms""#, self.samples)?;
        self.sample_stacks.write("stack", false, out)?;
        self.sample_times.write("time", false, out)?;
        self.sample_weights.write("weight", false, out)?;
        write!(out, r#"}},"markers":{{"length":{}"#, self.markers)?;
        self.marker_names.write("name", false, out)?;
        self.marker_starts.write("startTime", false, out)?;
        self.marker_ends.write("endTime", false, out)?;
        self.marker_phases.write("phase", false, out)?;
        self.marker_categories.write("category", false, out)?;
        self.marker_data.write("data", false, out)?;
        out.write_all(b"}")?;
        self.write_stacks(out)?;
        self.write_frames(out)?;
        self.write_texts(names, out)?;
        Ok(out.write_all(b"}")?)
    }

    fn write_stacks(&self, out: &mut dyn Write) -> Result<()> {
        write!(out, r#","stackTable":{{"length":{}"#, self.stacks.len())?;
        let (mut frames, mut prefixes, mut zeros) = (Column::default(), Column::default(), Column::default());
        for (below, frame) in &self.stacks {
            frames.number((*frame).into())?;
            prefixes.maybe(*below)?;
            zeros.number(0)?;
        }
        frames.write("frame", false, out)?;
        prefixes.write("prefix", false, out)?;
        zeros.write("category", false, out)?;
        zeros.write("subcategory", false, out)?;
        Ok(out.write_all(b"}")?)
    }

    /// Each frame is also a function: spans know where they were declared, not which line ran.
    fn write_frames(&mut self, out: &mut dyn Write) -> Result<()> {
        let (mut functions, mut names, mut files) = (Column::default(), Column::default(), Column::default());
        let (mut lines, mut zeros, mut nulls) = (Column::default(), Column::default(), Column::default());
        let (mut nowhere, mut falses) = (Column::default(), Column::default());
        for (number, frame) in self.frames.all.clone().iter().enumerate() {
            functions.number(number as u64)?;
            names.number(self.text(frame.name)?.into())?;
            let file = frame.file.map(|file| self.text(file)).transpose()?;
            files.maybe(file)?;
            lines.maybe(frame.line)?;
            zeros.number(0)?;
            nulls.maybe(None)?;
            nowhere.signed(-1)?;
            falses.push(|out| out.extend_from_slice(b"false"))?;
        }
        write!(out, r#","frameTable":{{"length":{}"#, self.frames.all.len())?;
        nowhere.write("address", false, out)?;
        for key in ["inlineDepth", "category", "subcategory", "innerWindowID"] {
            zeros.write(key, false, out)?;
        }
        functions.write("func", false, out)?;
        lines.write("line", false, out)?;
        for key in ["nativeSymbol", "implementation", "column"] {
            nulls.write(key, false, out)?;
        }
        write!(out, r#"}},"funcTable":{{"length":{}"#, self.frames.all.len())?;
        names.write("name", false, out)?;
        falses.write("isJS", false, out)?;
        falses.write("relevantForJS", false, out)?;
        nowhere.write("resource", false, out)?;
        files.write("fileName", false, out)?;
        lines.write("lineNumber", false, out)?;
        nulls.write("columnNumber", false, out)?;
        out.write_all(br#"},"resourceTable":{"length":0,"lib":[],"name":[],"host":[],"type":[]},"#)?;
        out.write_all(br#""nativeSymbols":{"length":0,"libIndex":[],"address":[],"name":[],"functionSize":[]}"#)?;
        Ok(())
    }

    fn write_texts(&self, names: &mut NamePool, out: &mut dyn Write) -> Result<()> {
        out.write_all(br#","stringArray":["#)?;
        let mut text = Vec::new();
        for (number, id) in self.texts.iter().enumerate() {
            text.clear();
            if number > 0 {
                text.push(b',');
            }
            let name = names.get(*id)?;
            push_string(&mut text, if name.is_empty() { "(no name)" } else { name });
            out.write_all(&text)?;
        }
        Ok(out.write_all(b"]")?)
    }

    fn text(&mut self, id: NameId) -> Result<u32> {
        check("names", self.texts.len(), self.max)?;
        let texts = &mut self.texts;
        Ok(*self.strings.entry(id).or_insert_with(|| {
            texts.push(id);
            texts.len() as u32 - 1
        }))
    }
}
