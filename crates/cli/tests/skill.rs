//! Every command on the page of `traceloom skill` works.

use std::process::Command;

#[test]
fn every_command_of_the_skill_runs() {
    let folder = tempfile::tempdir().expect("there is room");
    let run = |arguments: &str| {
        let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_traceloom"));
        Command::new("sh").args(["-c", &command]).current_dir(&folder).output().expect("a shell")
    };
    let page = String::from_utf8(run("skill").stdout).expect("UTF-8");
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(commands.len() > 15, "{}", commands.len());
    for line in commands {
        let arguments = line.strip_prefix("traceloom ").unwrap_or_else(|| panic!("not a command: {line}"));
        let out = run(arguments);
        assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
        let is_json = arguments.contains("--json") || arguments.contains("--format json");
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        assert!(
            !is_json || (!text.is_empty() && text.lines().all(|line| line.starts_with('{'))),
            "{line}: {text:.200}"
        );
    }
}
