//! Places that log very often.

use hashbrown::HashMap;
use traceloom_model::select;
use traceloom_passes::{Interner, NO_NUMBER, Translation, number_of};

use super::{
    Options,
    report::{Advice, Evidence, Rule, Unit, Weight, quoted},
};

select! { pub(super) struct LogRows of logs { ts_ns, file, line, format } }

/// How often each place logs.
#[derive(Debug, Default)]
pub(super) struct Logs {
    columns: [Translation; 2],
    places: HashMap<(u32, u32, u32), Place>,
}

#[derive(Debug, Default)]
struct Place {
    count: u64,
    /// The second at hand, and its entries.
    second: i64,
    entries: u64,
    /// The second with most of them.
    worst: (u64, i64),
}

const SECOND_NS: i64 = 1_000_000_000;

impl Logs {
    pub(super) fn add(&mut self, view: &LogRows<'_>, names: &mut Interner) {
        let [formats, files] = &mut self.columns;
        let formats = formats.of(view.format.values(), names).to_vec();
        let files = files.of(view.file.values(), names);
        for row in 0..view.rows {
            let Some(ts_ns) = view.ts_ns.get(row) else { continue };
            let key = (
                number_of(&formats, view.format.key(row)),
                number_of(files, view.file.key(row)),
                view.line.get(row).unwrap_or(NO_NUMBER),
            );
            let place = self.places.entry(key).or_default();
            let second = ts_ns.div_euclid(SECOND_NS);
            if place.second != second {
                (place.second, place.entries) = (second, 0);
            }
            place.count += 1;
            place.entries += 1;
            place.worst = place.worst.max((place.entries, second));
        }
    }

    pub(super) fn finish(self, options: &Options, names: &Interner) -> Vec<Advice> {
        let storms = self.places.into_iter().filter(|(_, place)| place.worst.0 > options.logs);
        let advice = storms.map(|((format, file, line), place)| {
            let text = names.get(format);
            let at = names.get(file).map(|file| format!("{file}:{}", if line == NO_NUMBER { 0 } else { line }));
            let (most, second) = place.worst;
            let which = text.map_or("format IS NULL".to_owned(), |text| format!("format = {}", quoted(text)));
            Advice {
                rule: Rule::LogStorm,
                weight: if most > options.logs * 10 { Weight::High } else { Weight::Medium },
                subject: text.map(str::to_owned).or_else(|| at.clone()).unwrap_or_else(|| "(unknown)".to_owned()),
                value: most as f64,
                limit: options.logs as f64,
                count: place.count,
                evidence: vec![
                    Evidence::new(at.unwrap_or_default(), most as f64, Unit::Count)
                        .at(second.saturating_mul(SECOND_NS)),
                ],
                query: format!(
                    "SELECT ts_ns / {SECOND_NS} AS at_s, COUNT(*) AS entries FROM logs WHERE {which} GROUP BY ts_ns / \
                     {SECOND_NS} ORDER BY entries DESC"
                ),
            }
        });
        advice.collect()
    }
}
