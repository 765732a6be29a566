//! `docs/tables.md` matches the definitions.

use std::{env, fs, path::Path};

use traceloom_model::{Table, reference};

#[test]
fn the_reference_page_is_made_from_the_definitions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    if env::var_os("TRACELOOM_BLESS").is_some() {
        fs::write(&path, reference()).expect("the page can be written");
    }
    let page = fs::read_to_string(&path).expect("the page is there");
    assert_eq!(page, reference(), "docs/tables.md is stale: renew it with `cargo xtask bless`");
}

#[test]
fn every_column_has_a_name_of_its_own_and_a_sentence() {
    for table in Table::ALL {
        let mut names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
        assert!(names.starts_with(&["trace_id", "id"]), "{}", table.name());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table.columns().len(), "{}", table.name());
        assert!(table.columns().iter().all(|column| column.about.trim_end().ends_with('.')), "{}", table.name());
        assert_eq!(Table::by_name(table.name()), Some(table));
        assert_eq!(table.schema().fields().len(), table.columns().len());
    }
}
