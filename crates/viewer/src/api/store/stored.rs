//! An open store, and its endpoints.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use traceloom_core::{Error, Result};
use traceloom_fleet::{each_row, number, text};
use traceloom_mapping::{Options, Trace};
use traceloom_query::{
    Session,
    fleet::{Fleet, FleetTable},
    store::Store,
};

use super::{
    answer::{
        RegressionsQuery, StoreAbout, StoredDetails, StoredFinding, StoredNames, StoredNamesQuery, StoredQuery,
        StoredTraces, TracesQuery, TrendMetric, TrendQuery,
    },
    catalog::{Catalog, Row},
    list,
    sources::Sources,
    trends::{self, Names},
};
use crate::api::{
    Answer, Refusal, Routes,
    changes::Changes,
    work::{self, Kept, Reply},
};

pub(crate) fn routes(routes: &mut Routes, stored: Arc<Stored>) {
    let mut routes = routes.sharing(stored);
    routes.get("store", |_, stored, _| work::later(move |_| stored.about()));
    routes.post("store/traces", |_, stored, ask| stored.traces(ask.body()?));
    routes.get("store/trace", |_, stored, ask| stored.details(ask.query()?));
    routes.get("store/names", |_, stored, ask| stored.names(ask.query()?));
    routes.get("store/trend", |_, stored, ask| stored.trend(ask.query()?));
    routes.get("store/regressions", |_, stored, ask| stored.regressions(ask.query()?));
}

/// A store, and the folders of its sources.
#[derive(Debug)]
pub(crate) struct Stored {
    folder: PathBuf,
    sources: Sources,
    content: Mutex<Option<(Stamp, Arc<Content>)>>,
}

/// Differs if the store has changed.
type Stamp = (u64, Option<SystemTime>);

/// The contents of the store as of a commit.
#[derive(Debug)]
struct Content {
    session: Arc<Session>,
    catalog: Catalog,
    /// `None` if it is not a fleet store.
    quarantined: Option<u64>,
    all: u64,
    orders: Kept<TracesQuery, Vec<u32>>,
    names: Kept<TrendMetric, Names>,
    regressions: Kept<[String; 2], Changes>,
}

/// Max number of problems per trace; the first ones are as good as any.
const MAX_FINDINGS: usize = 50;

impl Stored {
    /// Opens a store, with the folders of its sources.
    pub(crate) fn open(folder: &Path, sources: &[PathBuf]) -> Result<Self> {
        let stored = Self { folder: folder.to_owned(), sources: Sources::new(sources)?, content: Mutex::default() };
        if Fleet::open(folder)?.is_none() && Store::open(folder)?.is_none() {
            return Err(Error::usage("not a Traceloom store").in_file(folder));
        }
        Ok(stored)
    }

    /// Opens a trace from its source.
    pub(crate) fn trace(&self, id: &str, options: &Options) -> Answer<Trace> {
        let content = self.content()?;
        Ok(self.sources.open(found(&content, id)?, options)?)
    }

    /// The current contents of the store; another process may add traces.
    fn content(&self) -> Answer<Arc<Content>> {
        let stamp = self.stamp();
        // Held so that one request reads the store while the others wait.
        let mut kept = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, content)) = kept.as_ref().filter(|(of, _)| *of == stamp) {
            return Ok(Arc::clone(content));
        }
        let content = Arc::new(Content::read(&self.folder)?);
        *kept = Some((stamp, Arc::clone(&content)));
        Ok(content)
    }

    fn stamp(&self) -> Stamp {
        let facts = ["fleet.json", "manifest.json"].iter().find_map(|name| fs::metadata(self.folder.join(name)).ok());
        facts.map_or((0, None), |facts| (facts.len(), facts.modified().ok()))
    }

    fn about(&self) -> Answer<StoreAbout> {
        let content = self.content()?;
        Ok(StoreAbout {
            path: self.folder.display().to_string(),
            has_trends: content.quarantined.is_some(),
            all: content.all,
            quarantined: content.quarantined.unwrap_or(0),
            listed: content.catalog.rows.len(),
            tags: content.catalog.choices(),
        })
    }

    fn traces(self: Arc<Self>, query: TracesQuery) -> Answer<Reply<StoredTraces>> {
        work::later(move |_| {
            let content = self.content()?;
            let arranged = TracesQuery { skip: 0, take: 0, ..query.clone() };
            let order = content.orders.or(arranged, || Ok(list::arranged(&content.catalog, &query)))?;
            Ok(list::page(&content.catalog, &order, &query))
        })
    }

    fn details(self: Arc<Self>, query: StoredQuery) -> Answer<Reply<StoredDetails>> {
        work::later(move |_| {
            let content = self.content()?;
            let row = found(&content, &query.id)?;
            let mut findings = Vec::new();
            // Files in quarantine have no rows of problems, and may have the id of a trace.
            if row.finding.is_none() {
                let sql = format!(
                    "select severity, code, left(message, 1024) from findings where trace_id = {} order by id limit {MAX_FINDINGS}",
                    row.id
                );
                each_row(&*content.session, &sql, |row| {
                    findings.push(StoredFinding {
                        severity: text(&row, 0),
                        code: text(&row, 1),
                        message: text(&row, 2),
                    });
                })?;
            }
            let counted = format!("select count(*) from findings where trace_id = {}", row.id);
            let mut all_findings = 0;
            each_row(&*content.session, &counted, |row| all_findings = number(&row, 0).unwrap_or(0))?;
            let file =
                row.finding.is_none().then(|| self.sources.candidates(row)).and_then(|all| all.into_iter().next());
            Ok(StoredDetails {
                row: content.catalog.shown(row),
                all_findings,
                findings,
                refusal: file.is_none().then(|| self.sources.refusal(row, false)),
                source: file.map(|path| path.display().to_string()),
            })
        })
    }

    fn names(self: Arc<Self>, query: StoredNamesQuery) -> Answer<Reply<StoredNames>> {
        work::later(move |_| {
            let content = self.content()?;
            let session = content.fleet()?;
            Ok(content.names.or(query.metric, || Ok(Names::of(session, query.metric)?))?.page(&query))
        })
    }

    fn trend(self: Arc<Self>, query: TrendQuery) -> Answer<Reply<serde_json::Value>> {
        work::later(move |_| Ok(trends::history(self.content()?.fleet()?, query)?))
    }

    fn regressions(self: Arc<Self>, query: RegressionsQuery) -> Answer<Reply<Changes>> {
        work::later(move |_| {
            let content = self.content()?;
            let session = content.fleet()?;
            let builds = [query.baseline, query.candidate];
            let compare = || Ok(Changes::of(&trends::regressions(session, builds.each_ref().map(String::as_str))?));
            Ok(content.regressions.or(builds.clone(), compare)?.as_ref().clone())
        })
    }
}

impl Content {
    fn read(folder: &Path) -> Result<Self> {
        let options = traceloom_query::Options::default();
        let (orders, names, regressions) = (Kept::default(), Kept::default(), Kept::default());
        if let Some(fleet) = Fleet::open(folder)? {
            let session = Arc::new(Session::of_fleet(&fleet, &options)?);
            let manifest = fleet.manifest();
            let catalog = Catalog::of_fleet(&*session, &manifest.partitions)?;
            let quarantined = manifest.rows(FleetTable::Quarantine);
            let all = manifest.rows(FleetTable::Ingested).saturating_add(quarantined);
            return Ok(Self { session, catalog, quarantined: Some(quarantined), all, orders, names, regressions });
        }
        let store = Store::open(folder)?.ok_or_else(|| Error::usage("not a Traceloom store").in_file(folder))?;
        let all = store.traces().len() as u64;
        let session = Arc::new(Session::new(Vec::new(), vec![store], &options)?);
        let catalog = Catalog::of_store(&*session)?;
        Ok(Self { session, catalog, quarantined: None, all, orders, names, regressions })
    }

    /// The fleet store, which has names and builds.
    fn fleet(&self) -> Answer<&Arc<Session>> {
        let none = || Refusal::absent("trends need a fleet store, created by `traceloom ingest`");
        self.quarantined.map(|_| &self.session).ok_or_else(none)
    }
}

fn found<'c>(content: &'c Content, id: &str) -> Answer<&'c Row> {
    let row = id.parse().ok().and_then(|id| content.catalog.find(id));
    row.ok_or_else(|| Refusal::absent("the store has no such trace"))
}
