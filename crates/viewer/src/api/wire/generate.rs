//! Writes `web/src/wire.ts`: the types of every query and every answer.

use std::{collections::BTreeMap, env, fs, path::Path};

use ts_rs::{Config, TS, TypeVisitor};

use crate::api::{
    Done, Refused, around, changes, counterparts, definitions, details, findings, flame, frames, histogram, log,
    logline, memory, minimap, notes, open, overview, picture, place, range, search, source, sql, state, stats, store,
    totals,
};

/// Every endpoint: its query, its body, its answer.
fn endpoints(wire: &mut Wire) {
    wire.get("advice").answer::<findings::AdviceAnswer>();
    wire.get("around").query::<details::SpanQuery>().answer::<around::Around>();
    wire.get("changes").query::<changes::ChangesQuery>().answer::<changes::Changes>();
    wire.get("counterparts").query::<counterparts::CounterpartsQuery>().answer::<counterparts::Counterparts>();
    wire.get("definitions").answer::<definitions::DefinitionsAnswer>();
    wire.get("event").query::<details::EventQuery>().answer::<details::EventDetails>();
    wire.get("extras").query::<picture::WindowQuery>().answer::<picture::Extras>();
    wire.get("findings").answer::<findings::FindingsAnswer>();
    wire.get("frames").query::<frames::FramesQuery>().answer::<frames::Frames>();
    wire.get("histogram")
        .query::<range::RangeQuery>()
        .query::<histogram::HistogramQuery>()
        .answer::<histogram::Histogram>();
    wire.get("line").query::<details::LineQuery>().answer::<details::LogLine>();
    wire.get("log").query::<log::LogQuery>().answer::<log::LogAnswer>();
    wire.get("log/hits").query::<log::LogQuery>().query::<log::HitsQuery>().answer::<Vec<log::LogHit>>();
    wire.get("log/line").query::<details::LineQuery>().answer::<logline::LogDetails>();
    wire.get("longest").query::<range::RangeQuery>().query::<histogram::LongestQuery>().answer::<histogram::Longest>();
    wire.get("memory").query::<memory::MemoryQuery>().answer::<memory::MemoryAnswer>();
    wire.get("minimap").query::<minimap::MinimapQuery>().answer::<minimap::Minimap>();
    wire.get("names").query::<state::NamesQuery>().answer::<Vec<state::NameRow>>();
    wire.get("next").query::<search::NextQuery>().answer::<Option<place::Found>>();
    wire.get("notes").answer::<notes::NotesAnswer>();
    wire.get("overview").answer::<overview::Overview>();
    wire.get("picture").query::<picture::WindowQuery>().bytes();
    wire.get("place").query::<place::PlaceQuery>().answer::<Option<place::Found>>();
    wire.get("relation")
        .query::<range::RangeQuery>()
        .query::<histogram::RelationQuery>()
        .answer::<Option<histogram::Relation>>();
    wire.get("search").query::<search::SearchQuery>().answer::<search::SearchAnswer>();
    wire.get("source").answer::<source::SourceAnswer>();
    wire.get("source/file").query::<source::FileQuery>().answer::<source::FileAnswer>();
    wire.get("source/sub").query::<source::SubQuery>().answer::<source::SubDetails>();
    wire.get("span").query::<details::SpanQuery>().answer::<details::SpanDetails>();
    wire.get("sql/schema").answer::<sql::Schema>();
    wire.get("state").query::<state::StateQuery>().answer::<state::StateAnswer>();
    wire.get("stats").query::<range::RangeQuery>().query::<stats::StatsQuery>().answer::<stats::Stats>();
    wire.get("store").answer::<store::StoreAbout>();
    wire.get("store/names").query::<store::StoredNamesQuery>().answer::<store::StoredNames>();
    wire.get("store/regressions").query::<store::RegressionsQuery>().answer::<changes::Changes>();
    wire.get("store/trace").query::<store::StoredQuery>().answer::<store::StoredDetails>();
    wire.get("store/trend").query::<store::TrendQuery>().answer::<store::Trend>();
    wire.get("switch").query::<details::SwitchQuery>().answer::<details::SwitchDetails>();
    wire.get("text").query::<details::TextQuery>().answer::<details::TextValue>();
    wire.get("totals").query::<range::RangeQuery>().answer::<totals::Totals>();
    wire.post("close").query::<state::CloseQuery>().answer::<Done>();
    wire.post("flame").body::<flame::FlameQuery>().answer::<flame::FlameAnswer>();
    wire.post("notes").body::<notes::NotesQuery>().answer::<Done>();
    wire.post("offset").query::<state::OffsetQuery>().answer::<Done>();
    wire.post("open").query::<open::OpenQuery>().answer::<Done>();
    wire.post("sql").body::<sql::SqlQuery>().answer::<sql::SqlAnswer>();
    wire.post("store/open").query::<store::OpenStoredQuery>().answer::<Done>();
    wire.post("store/traces").body::<store::TracesQuery>().answer::<store::StoredTraces>();
    wire.visit::<Refused>();
}

/// All declarations by name, and the endpoints.
struct Wire {
    config: Config,
    types: BTreeMap<String, String>,
    gets: Vec<String>,
    posts: Vec<String>,
}

/// An endpoint under construction.
struct Endpoint<'w> {
    wire: &'w mut Wire,
    path: &'static str,
    is_get: bool,
    queries: Vec<String>,
    body: Option<String>,
}

impl Wire {
    fn get(&mut self, path: &'static str) -> Endpoint<'_> {
        Endpoint { wire: self, path, is_get: true, queries: Vec::new(), body: None }
    }

    fn post(&mut self, path: &'static str) -> Endpoint<'_> {
        Endpoint { wire: self, path, is_get: false, queries: Vec::new(), body: None }
    }

    /// Declares a type; returns its name.
    fn named<T: TS + 'static>(&mut self) -> String {
        self.visit::<T>();
        T::visit_generics(self);
        T::name(&self.config)
    }
}

impl TypeVisitor for Wire {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // A type without a separate file is a built-in type of TypeScript.
        if T::output_path().is_none() {
            return;
        }
        let docs = T::docs().map_or_else(String::new, |docs| one_line(&docs));
        let declared = format!("{docs}export {}\n", laid_out(&T::decl(&self.config)));
        match self.types.insert(T::ident(&self.config), declared.clone()) {
            Some(known) => assert_eq!(known, declared, "two types have one name"),
            None => {
                T::visit_dependencies(self);
                T::visit_generics(self);
            }
        }
    }
}

impl Endpoint<'_> {
    fn query<T: TS + 'static>(mut self) -> Self {
        let name = self.wire.named::<T>();
        self.queries.push(name);
        self
    }

    fn body<T: TS + 'static>(mut self) -> Self {
        self.body = Some(self.wire.named::<T>());
        self
    }

    fn answer<T: TS + 'static>(self) {
        let name = self.wire.named::<T>();
        self.finish(&name);
    }

    fn bytes(self) {
        self.finish("ArrayBuffer");
    }

    fn finish(self, answer: &str) {
        let query = if self.queries.is_empty() { "Nothing".to_owned() } else { self.queries.join(" & ") };
        let body = self.body.map_or_else(String::new, |body| format!("body: {body}; "));
        let line = format!("  \"{}\": {{ query: {query}; {body}answer: {answer} }};\n", self.path);
        if self.is_get { self.wire.gets.push(line) } else { self.wire.posts.push(line) }
    }
}

/// A doc comment of these lines; empty if there are none.
pub(crate) fn comment(lines: &[&str]) -> Option<String> {
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A tuple with names.
pub(crate) fn tuple(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
    format!("[{}]", fields.join(", "))
}

/// The index of each field of a row.
pub(crate) fn positions(fields: &[&str]) -> String {
    let fields: Vec<String> = fields.iter().enumerate().map(|(at, name)| format!("{name}: {at}")).collect();
    format!("{{ {} }} as const", fields.join(", "))
}

/// Puts each field of an object on a separate line, with its comment before it.
fn laid_out(declaration: &str) -> String {
    let object = declaration.split_once(" = { ").and_then(|(head, rest)| Some((head, rest.strip_suffix(", };")?)));
    let Some((head, fields)) = object else { return declaration.to_owned() };
    let lines = fields_of(fields).into_iter().map(|field| match field.rsplit_once("*/") {
        Some((comment, field)) => format!("  {}  {};\n", one_line(comment), field.trim()),
        None => format!("  {};\n", field.trim()),
    });
    format!("{head} = {{\n{}}};", lines.collect::<String>())
}

/// The fields of an object; commas in comments and in types do not end one.
fn fields_of(text: &str) -> Vec<&str> {
    let (mut fields, mut start, mut depth, mut is_comment) = (Vec::new(), 0, 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '/' if text[at..].starts_with("/**") => is_comment = true,
            '/' if text[..at].ends_with('*') => is_comment = false,
            '<' | '[' | '{' | '(' => depth += i32::from(!is_comment),
            '>' | ']' | '}' | ')' => depth -= i32::from(!is_comment),
            ',' if depth == 0 && !is_comment => {
                fields.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    fields.push(&text[start..]);
    fields
}

/// A comment of several lines as one.
fn one_line(comment: &str) -> String {
    let lines =
        comment.lines().map(|line| line.trim_matches(|letter: char| letter.is_whitespace() || "/*".contains(letter)));
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    format!("/** {text} */\n")
}

const HEAD: &str = "\
// Queries and answers of the server. Written from the types of `crates/viewer/src/api` by `cargo xtask bless`: do not
// edit.

/** No query. */
export type Nothing = Record<string, never>;

";

fn written() -> String {
    let mut wire = Wire {
        config: Config::new().with_large_int("number"),
        types: BTreeMap::new(),
        gets: Vec::new(),
        posts: Vec::new(),
    };
    endpoints(&mut wire);
    let types: Vec<&str> = wire.types.values().map(String::as_str).collect();
    format!(
        "{HEAD}{}\n/** Endpoints for GET. */\nexport interface Gets {{\n{}}}\n\n/** Endpoints for POST. */\nexport interface Posts {{\n{}}}\n",
        types.join("\n"),
        wire.gets.concat(),
        wire.posts.concat(),
    )
}

#[test]
fn the_page_knows_the_types_of_the_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/wire.ts");
    let expected = written();
    if env::var_os("TRACELOOM_BLESS").is_some() {
        fs::write(&path, &expected).expect("the file can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == expected, "run the test with TRACELOOM_BLESS=1 to renew {}", path.display());
}
