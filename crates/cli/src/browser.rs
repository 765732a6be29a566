//! Whether a browser is available, and how to reach the page without one.

use std::{
    env,
    io::{IsTerminal, stdout},
};

/// The verb of `traceloom FILE`: `view` on a terminal or if a browser can be opened.
pub(crate) fn default_verb() -> &'static str {
    if stdout().is_terminal() || is_there() { "view" } else { "info" }
}

/// Whether a browser can be opened on this machine.
pub(crate) fn is_there() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = cfg!(not(all(unix, not(target_os = "macos"))))
        || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].into_iter().any(is_set);
    has_screen && !is_set("CI") && !is_remote()
}

/// Whether the program was started over SSH.
pub(crate) fn is_remote() -> bool {
    ["SSH_CONNECTION", "SSH_TTY"].into_iter().any(|name| env::var_os(name).is_some())
}

/// Opens the address `handed` in the browser if there is one, or prints how to reach the page.
pub(crate) fn open(url: &str, handed: Option<&str>) {
    if is_remote() {
        eprintln!("{}", from_afar(url));
    } else if handed.is_some_and(|handed| !is_there() || webbrowser::open(handed).is_err()) {
        eprintln!("Cannot start a browser; open the address above in a browser on this machine.");
    }
}

fn from_afar(url: &str) -> String {
    let port = url.split([':', '/']).nth(4).unwrap_or_default();
    format!("On your local machine, run `ssh -L {port}:127.0.0.1:{port} HOST` and open the address there.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_over_ssh_names_the_port() {
        assert!(from_afar("http://127.0.0.1:8123/?token=abc").contains("-L 8123:127.0.0.1:8123"));
    }
}
