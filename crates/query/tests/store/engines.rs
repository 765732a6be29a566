//! Other engines read the same data from a store.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use arrow_array::{
    Array, ArrayRef, BinaryArray, Float64Array, Int64Array, StringArray, UInt32Array, UInt64Array, cast::AsArray,
    types::Int32Type,
};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted};

use crate::common::{FIXTURES, traces, write};

/// For each column, the number of cells that are not NULL, and a checksum.
type Sums = BTreeMap<String, BTreeMap<String, (u64, String)>>;

#[test]
fn duckdb_polars_and_pyarrow_read_the_same() {
    let packages = match packages() {
        Ok(packages) => packages,
        Err(reason) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
            eprintln!("skipped: {reason}");
            return;
        }
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (out, traces) = (folder.path().join("store"), traces(&FIXTURES));
    let (first, second) = traces.split_at(4);
    write(first, &out);
    write(second, &out);
    let mut batches = Batches::of(Wanted::everything());
    traces.iter().for_each(|trace| trace.pour(&Filter::default(), &mut batches).expect("the trace can be read"));
    let expected = sums(&batches);
    let found = ask(&packages, &out);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["duckdb", "polars", "pyarrow"]);
    for (engine, found) in &found {
        for (table, columns) in &expected {
            assert_eq!(found.get(table), Some(columns), "{table} in {engine}");
        }
    }
}

/// The folder of the packages, installed once.
fn packages() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("store-engines");
    if folder.is_dir() {
        return Ok(folder);
    }
    let unfinished = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
    let packages = ["duckdb==2.0.0", "polars==2.1.0", "pyarrow==26.0.1"];
    let out = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--only-binary=:all:", "--target"])
        .arg(unfinished.path())
        .args(packages)
        .output()
        .map_err(|error| format!("python3 cannot be run: {error}"))?;
    if !out.status.success() {
        return Err(format!("pip install {packages:?} failed: {}", String::from_utf8_lossy(&out.stderr)));
    }
    fs::rename(unfinished.keep(), &folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// The result of each engine.
fn ask(packages: &Path, store: &Path) -> BTreeMap<String, Sums> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/engines.py");
    let out =
        Command::new("python3").env("PYTHONPATH", packages).arg(script).arg(store).output().expect("python3 runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("the script prints JSON")
}

/// Our result, computed from the batches of the traces.
fn sums(batches: &Batches) -> Sums {
    let mut sums = Sums::new();
    // Merged rows are not in the batches of a trace.
    for table in Table::ALL.into_iter().filter(|table| *table != Table::CallsMerged) {
        let columns = sums.entry(table.name().to_owned()).or_default();
        for (number, column) in table.columns().iter().enumerate() {
            let (mut count, mut sum) = (0, 0_i128);
            for batch in batches.table(table) {
                let cells = batch.column(number);
                let valid = (0..cells.len()).filter(|row| cells.is_valid(*row));
                (count, sum) = valid.fold((count, sum), |(count, sum), row| (count + 1, sum + size(cells, row)));
            }
            columns.insert(column.name.to_owned(), (count, sum.to_string()));
        }
    }
    sums
}

/// The number itself, the bits of a float, the sum of the bytes of a text.
fn size(cells: &ArrayRef, row: usize) -> i128 {
    let any = cells.as_any();
    let bytes = |bytes: &[u8]| bytes.iter().map(|byte| i128::from(*byte)).sum();
    if let Some(names) = cells.as_dictionary_opt::<Int32Type>() {
        size(names.values(), names.keys().value(row) as usize)
    } else if let Some(texts) = any.downcast_ref::<StringArray>() {
        bytes(texts.value(row).as_bytes())
    } else if let Some(blobs) = any.downcast_ref::<BinaryArray>() {
        bytes(blobs.value(row))
    } else if let Some(numbers) = any.downcast_ref::<Int64Array>() {
        numbers.value(row).into()
    } else if let Some(numbers) = any.downcast_ref::<UInt64Array>() {
        numbers.value(row).into()
    } else if let Some(numbers) = any.downcast_ref::<UInt32Array>() {
        numbers.value(row).into()
    } else if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        // There are many NaN values, and an engine may change one into another.
        if numbers.value(row).is_nan() { 1 } else { (numbers.value(row).to_bits() as i64).into() }
    } else {
        panic!("no table has a column of {}", cells.data_type());
    }
}
