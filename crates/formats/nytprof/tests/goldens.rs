//! Every golden of the corpus, reproduced from our own reader.

mod support;

use serde_json::{Value, json};
use support::{assert_same, folder, json_file, normalise, profiles, read, text};
use traceloom_bytes::{Options, Records, Result, Source};
use traceloom_nytprof::{Dialect, Record, Str, aggregate, open, pynytprof};

#[test]
fn chunks_record_by_record() {
    let folder = folder();
    for name in profiles(&folder) {
        let mut golden = json_file(&folder.join(format!("{name}.chunks.json")));
        normalise(&mut golden);
        let mut ours = reproduce(Source::bytes(read(&folder, &name)), &golden).unwrap();
        if golden.get("error").is_some() {
            // The original gave up here; what it delivered before is the beginning of what we read.
            let delivered = golden["chunks"].as_array().unwrap().len();
            ours["chunks"].as_array_mut().unwrap().truncate(delivered);
            let strings = golden["string_tags"].as_str().unwrap().len();
            ours["string_tags"] = ours["string_tags"].as_str().unwrap()[..strings].into();
        }
        assert_same(&name, &ours, &golden);
    }
}

/// Builds `NAME.chunks.json`; what the golden says about the original itself is taken over.
fn reproduce(source: Source, golden: &Value) -> Result<Value> {
    let mut reader = open(source, &Options::default())?;
    let mut chunks = vec![json!(["VERSION", reader.header().major, reader.header().minor])];
    let mut string_tags = String::new();
    let (mut after_zlib, mut is_after) = (Vec::new(), false);
    while let Some(located) = reader.next()? {
        if let Record::Residue(bytes) = located.record
            && is_after
        {
            after_zlib.extend_from_slice(bytes);
        }
        is_after |= located.record == Record::EndDeflate;
        strings(&located.record).for_each(|string| string_tags.push(if string.is_utf8 { '"' } else { '\'' }));
        chunks.extend(chunk(&located.record));
    }
    let mut ours = json!({ "file": golden["file"], "reader": golden["reader"], "chunks": chunks });
    if let Some(error) = golden.get("error") {
        ours["error"] = error.clone();
    }
    ours["string_tags"] = string_tags.into();
    if !after_zlib.is_empty() {
        ours["after_zlib"] = String::from_utf8(after_zlib).unwrap().into();
    }
    Ok(ours)
}

/// The strings of a record, in file order.
fn strings<'a>(record: &Record<'a>) -> impl Iterator<Item = Str<'a>> + use<'a> {
    let strings = match record {
        Record::NewFid(file) => [Some(file.name), None],
        Record::SubReturn(left) => [Some(left.name), None],
        Record::SrcLine(source) => [Some(source.text), None],
        Record::SubInfo(sub) => [Some(sub.name), None],
        Record::SubCallers(calls) => [Some(calls.caller), Some(calls.called)],
        _ => [None, None],
    };
    strings.into_iter().flatten()
}

/// A record with its fields in the order of the original's callbacks.
fn chunk(record: &Record<'_>) -> Option<Value> {
    Some(match record {
        Record::Comment(line) => json!(["COMMENT", text(&[line, &b"\n"[..]].concat())]),
        Record::Attribute(pair) => json!(["ATTRIBUTE", text(pair.key), text(pair.value?)]),
        Record::Option(pair) => json!(["OPTION", text(pair.key), text(pair.value?)]),
        Record::StartDeflate(_) => json!(["START_DEFLATE"]),
        Record::PidStart(start) => json!(["PID_START", start.pid, start.ppid, start.time.value()]),
        Record::PidEnd(end) => json!(["PID_END", end.pid, end.time.value()]),
        Record::NewFid(f) => {
            let name = text(f.name.bytes);
            json!(["NEW_FID", f.fid, f.eval_fid, f.eval_line, f.flags.0, f.size, f.mtime, name])
        }
        Record::TimeLine(t) => json!(["TIME_LINE", t.ticks, t.fid, t.line]),
        Record::TimeBlock(t) => json!(["TIME_BLOCK", t.ticks, t.fid, t.line, t.block_line, t.sub_line]),
        Record::Discount => json!(["DISCOUNT"]),
        Record::SubEntry(entry) => json!(["SUB_ENTRY", entry.caller_fid, entry.caller_line]),
        Record::SubReturn(left) => {
            let name = text(left.name.bytes);
            json!(["SUB_RETURN", left.depth, left.incl_ticks.value(), left.excl_ticks.value(), name])
        }
        Record::SrcLine(source) => json!(["SRC_LINE", source.fid, source.line, text(source.text.bytes)]),
        Record::SubInfo(sub) => json!(["SUB_INFO", sub.fid, sub.first_line, sub.last_line, text(sub.name.bytes)]),
        Record::SubCallers(c) => {
            let (called, caller) = (text(c.called.bytes), text(c.caller.bytes));
            let (incl, excl, reci) = (c.incl_seconds.value(), c.excl_seconds.value(), c.reci_seconds.value());
            json!(["SUB_CALLERS", c.fid, c.line, c.count, incl, excl, reci, c.depth, called, caller])
        }
        Record::EndDeflate | Record::Residue(_) => return None,
    })
}

#[test]
fn summaries_to_the_last_digit() {
    let folder = folder();
    for name in profiles(&folder) {
        let mut golden = json_file(&folder.join(format!("{name}.summary.json")));
        normalise(&mut golden);
        let source = Source::bytes(read(&folder, &name));
        let ours = reproduce_summary(source, &golden).unwrap();
        if golden["raw"].get("error").is_some() {
            assert!(aggregate::load(Source::bytes(read(&folder, &name)), &Options::strict()).is_err());
            continue;
        }
        assert_same(&name, &ours, &golden);
    }
}

/// Builds `NAME.summary.json`; what the golden says about the original itself is taken over.
fn reproduce_summary(source: Source, golden: &Value) -> Result<Value> {
    let mut profile = aggregate::load(source, &Options::default())?;
    let mut ours = json!({ "file": golden["file"], "raw": support::summary(&profile) });
    if golden.get("merged_evals").is_some() {
        profile.merge_evals();
        ours["merged_evals"] = support::summary(&profile);
    }
    ours["loader_stderr"] = golden["loader_stderr"].clone();
    Ok(ours)
}

#[test]
fn folded_stacks_as_nytprofcalls_prints_them() {
    let folder = folder();
    let mut compared = 0;
    for name in profiles(&folder) {
        let Ok(golden) = std::fs::read(folder.join(format!("{name}.folded.txt"))) else { continue };
        let mut lines: Vec<_> = golden.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let ours = folded(Source::bytes(read(&folder, &name))).unwrap();
        let mut ours: Vec<_> = ours.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        lines.sort_unstable();
        ours.sort_unstable();
        assert_eq!(
            ours.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>(),
            lines.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>(),
            "{name}"
        );
        compared += 1;
    }
    assert!(compared > 30, "{compared} files");
}

fn folded(source: Source) -> Result<Vec<u8>> {
    let mut tree = aggregate::CallTreeBuilder::new(source.len()?);
    let mut reader = open(source, &Options::default())?;
    while let Some(located) = reader.next()? {
        tree.add(&located.record)?;
    }
    let mut lines = Vec::new();
    tree.finish()?.for_each(|path, ticks, _| {
        lines.extend(path.join(&b";"[..]));
        lines.extend(format!(" {}\n", ticks as i64).into_bytes());
    });
    Ok(lines)
}

#[test]
fn a_call_tree_of_any_depth_takes_little() {
    let mut bytes = b"NYTProf 5 0\n:nv_size=8\n".to_vec();
    for depth in [u32::MAX, u32::MAX - 1, 70_000, 3, 1] {
        bytes.push(b'<');
        traceloom_nytprof::raw::put_integer(depth, &mut bytes);
        bytes.extend([0; 16]);
        bytes.extend(b"'\x01f");
    }
    let paths = folded(Source::bytes(bytes)).unwrap();
    let paths = String::from_utf8(paths).unwrap();
    // Each gap is one call without a name, however many levels it has.
    assert_eq!(paths, "f 0\nf;;f 0\nf;;f;;f 0\nf;;f;;f;;f 0\nf;;f;;f;;f;f 0\n");
}

#[test]
#[should_panic(expected = "[1].a: 1.0000000000000002, golden 1.0")]
fn goldens_are_compared_to_the_last_digit() {
    assert_same("", &json!([{ "a": 1 }, { "a": 1.0000000000000002 }]), &json!([{ "a": 1.0 }, { "a": 1.0 }]));
}

#[test]
fn pynytprof_chunk_by_chunk() {
    let folder = folder().join("pynytprof");
    for name in profiles(&folder) {
        let golden = json_file(&folder.join(format!("{name}.pyn.json")));
        let bytes = read(&folder, &name);
        assert!(open(Source::bytes(bytes.clone()), &Options::default()).is_err(), "{name} passes for a real stream");
        let ours = reproduce_pynytprof(Source::bytes(bytes), &golden).unwrap();
        assert_same(&name, &ours, &golden);
    }
}

/// Builds `NAME.pyn.json`; what the golden says about other readers is taken over.
fn reproduce_pynytprof(source: Source, golden: &Value) -> Result<Value> {
    let file_bytes = source.len()?;
    let source_bytes = source.prefix(file_bytes as usize)?;
    let mut reader = pynytprof::open(source, &Options::default())?;
    let dialect = match reader.header().dialect {
        Dialect::Document => "pyn-P17-tlv",
        Dialect::LengthProcess => "pyn-P21-tlv",
        Dialect::Tokens => "pyn-P17-tokens",
        Dialect::NoProcess => "pyn-noP-tlv",
        other => other.as_str(),
    };
    let mut ours = json!({
        "file": golden["file"], "dialect": dialect, "attributes": {}, "options": {}, "comments": [], "blank_lines": 0,
    });
    let mut chunks: Vec<Value> = Vec::new();
    let (mut rest, mut newline, mut unread) = (Vec::new(), false, None);
    let bytes = source_bytes;
    let show = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
    while let Some(located) = reader.next()? {
        use pynytprof::Record as R;
        let (start, end) = (located.offset as usize, (located.offset + located.len) as usize);
        let is_payload = !matches!(
            located.record,
            R::Comment(_) | R::Attribute(_) | R::Option(_) | R::Blank | R::Process(_) | R::Chunk(_) | R::Residue(_)
        );
        newline |= is_payload && unread.is_none() && bytes[start..end].contains(&b'\n');
        if !matches!(located.record, R::Comment(_) | R::Attribute(_) | R::Option(_) | R::Blank)
            && ours.get("binary_offset").is_none()
        {
            ours["binary_offset"] = located.offset.into();
        }
        let row = match located.record {
            R::Comment(text) => {
                ours["comments"].as_array_mut().unwrap().push(show(text));
                continue;
            }
            R::Attribute(pair) => {
                ours["attributes"][String::from_utf8_lossy(pair.key).as_ref()] = show(pair.value.unwrap());
                continue;
            }
            R::Option(pair) => {
                ours["options"][String::from_utf8_lossy(pair.key).as_ref()] = show(pair.value.unwrap());
                continue;
            }
            R::Blank => {
                ours["blank_lines"] = (ours["blank_lines"].as_u64().unwrap() + 1).into();
                continue;
            }
            R::Process(process) => {
                ours["P"] = json!({ "pid": process.pid, "ppid": process.ppid, "time": process.time });
                continue;
            }
            R::Chunk(chunk) => {
                let tag = String::from(char::from(chunk.tag.0));
                let mut json = json!({ "tag": tag, "offset": located.offset, "length": chunk.length });
                describe_form(&mut json, &chunk);
                if located.offset + 5 + u64::from(chunk.length) > file_bytes {
                    json =
                        json!({ "tag": tag, "offset": located.offset, "length": chunk.length, "error": "truncated" });
                    unread = Some(file_bytes - located.offset);
                }
                chunks.push(json);
                continue;
            }
            R::Token(_) => {
                rest.push(located.offset);
                continue;
            }
            R::Residue(bytes) => {
                let ended = chunks.last().is_some_and(|chunk| chunk["tag"] == "E");
                if !ended && unread.is_none() {
                    let length = u32::from_le_bytes(bytes[1..5].try_into().unwrap());
                    let tag = String::from(char::from(bytes[0]));
                    let json = json!({ "tag": tag, "offset": located.offset, "length": length, "error": "truncated" });
                    chunks.push(json);
                }
                unread = Some(located.len);
                continue;
            }
            R::Payload(bytes) if unread.is_none() => {
                let chunk = chunks.last_mut().unwrap();
                chunk["hex"] = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
                if chunk["tag"] == "S" {
                    chunk["error"] = "length is not a multiple of 28".into();
                }
                continue;
            }
            R::Property(pair) => {
                let chunk = chunks.last_mut().unwrap();
                let hex = chunk.get("hex").and_then(Value::as_str).unwrap_or_default().to_owned();
                let text = [pair.key, b"=", pair.value.unwrap(), b"\0"].concat();
                chunk["hex"] = text.iter().fold(hex, |hex, byte| hex + &format!("{byte:02x}")).into();
                continue;
            }
            R::Line(l) => json!([l.fid, l.line, l.calls, l.inc_ticks, l.exc_ticks]),
            R::Sub(sub) => json!([sub.sid, sub.flags, show(sub.name)]),
            R::Range(sub) => json!([sub.sid, sub.fid, sub.first_line, sub.last_line, show(sub.name)]),
            R::Visit(visit) => json!([visit.fid, visit.line, visit.ns]),
            R::Edge(e) => json!([e.caller_sid, e.callee_sid, e.calls, e.ticks, e.sub_ticks]),
            R::Place(place) => json!([place.fid, place.line, place.sid, place.inc_ticks, place.exc_ticks]),
            R::File(f) => json!([f.fid, f.flags, f.size, f.mtime, show(f.path)]),
            R::IndexedFile(fid, string) => json!([fid, string]),
            R::VisitsEnd | R::Payload(_) | R::StartDeflate(_) | R::EndDeflate => continue,
        };
        if unread.is_none() {
            chunks.last_mut().unwrap()["records"].as_array_mut().unwrap().push(row);
        }
    }
    if dialect == "pyn-P17-tokens" {
        ours["rest_hex"] = golden["rest_hex"].clone();
        assert_eq!(rest.len(), 2, "a file and the end of the process");
    } else {
        ours["chunks"] = chunks.into();
        if let Some(unread) = unread {
            ours["after_end"] = unread.into();
        }
        ours["newline_in_payload"] = newline.into();
    }
    for reader in ["devel_nytprof", "pynytprof_reader_seed_commit", "pynytprof_reader_head"] {
        ours[reader] = golden[reader].clone();
    }
    Ok(ours)
}

fn describe_form(json: &mut Value, chunk: &pynytprof::Chunk) {
    use pynytprof::raw::{Form, Tag};
    let form = match chunk.form {
        Form::Subs if chunk.length == 0 => "empty",
        Form::Subs => "sid-flags-name",
        Form::Ranges => "sid-fid-range-name",
        Form::Visits => "stmt",
        Form::VarintVisits => "varint-stmt",
        Form::VarintLines | Form::VarintEdges => "varint",
        Form::Files => "fid-flags-size-mtime-path",
        Form::VarintFiles => "varint-file",
        Form::IndexedFiles => "fid-stringindex",
        Form::Lines | Form::Edges | Form::Places | Form::Properties | Form::Raw => "",
    };
    if !form.is_empty() {
        json["form"] = form.into();
    }
    if chunk.tag != Tag::E && chunk.form != Form::Properties && chunk.form != Form::Raw {
        json["records"] = json!([]);
    }
}

#[test]
fn damaged_files_give_at_least_what_can_be_salvaged() {
    let folder = folder().join("damaged");
    let expected = json_file(&folder.join("expect.json"));
    let expected = expected.as_array().unwrap();
    let mut names: Vec<_> = expected.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names, profiles(&folder));
    for entry in expected {
        let name = entry["name"].as_str().unwrap();
        let bytes = read(&folder, name);
        let loads = entry["real_reader"]["load"].as_str().unwrap().starts_with("ok");
        let strict = walk(Source::bytes(bytes.clone()), &Options::strict());
        assert_eq!(strict.is_ok(), loads, "{name}: the original says {}, we {strict:?}", entry["real_reader"]["load"]);
        let salvaged = walk(Source::bytes(bytes), &Options::default());
        let wanted = entry["salvage_chunks"].as_u64().unwrap();
        match salvaged {
            Ok(found) => assert!(found >= wanted, "{name}: {found} of {wanted} records"),
            Err(error) => assert_eq!(wanted, 0, "{name}: {error}"),
        }
    }
}

/// Counts as the goldens do: the version is a chunk, a line without a value is none.
fn walk(source: Source, options: &Options) -> Result<u64> {
    let mut reader = open(source, options)?;
    let mut count = 1;
    while let Some(located) = reader.next()? {
        count += u64::from(chunk(&located.record).is_some());
    }
    Ok(count)
}
