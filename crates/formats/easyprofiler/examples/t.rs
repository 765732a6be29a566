//! scratch
use traceloom_bytes::*;
fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.rsplit('/').next().unwrap().to_owned();
        let golden = std::fs::read_to_string(path.replace(".prof", ".json")).unwrap();
        let accepted = golden.contains("\"accepted\": true");
        let strict = (|| -> Result<()> {
            let mut r = traceloom_easyprofiler::open(Source::bytes(bytes.clone()), &Options::strict())?;
            while r.next()?.is_some() {}
            Ok(())
        })();
        let lenient = (|| -> Result<(Vec<u8>, Vec<String>)> {
            let mut r = traceloom_easyprofiler::open(Source::bytes(bytes.clone()), &Options::default())?;
            let mut w = traceloom_easyprofiler::create(Vec::new(), r.header())?;
            while let Some(l) = r.next()? {
                w.write(&l.record)?;
            }
            Ok((w.finish()?.0, r.findings().kept().iter().map(|f| f.to_string()).collect()))
        })();
        println!(
            "{name} verdict {} strict={:?}",
            if strict.is_ok() == accepted { "ok" } else { "DIFF" },
            strict.err().map(|e| e.to_string())
        );
        match lenient {
            Ok((out, f)) => {
                if out != bytes {
                    println!("   REWRITE DIFFERS {} {}", out.len(), bytes.len());
                }
                for x in f {
                    println!("   {x}");
                }
            }
            Err(e) => println!("   lenient err {e}"),
        }
    }
}
