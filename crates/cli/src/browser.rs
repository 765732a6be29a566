//! Whether there is a browser, and how to reach the page without one.

use std::{
    env,
    io::{IsTerminal, stdout},
};

/// What `traceloom FILE` means: a look in the browser, where somebody can look.
pub(crate) fn default_verb() -> &'static str {
    if stdout().is_terminal() || is_there() { "view" } else { "info" }
}

/// Whether a browser can be opened for somebody who sits here.
pub(crate) fn is_there() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = cfg!(not(all(unix, not(target_os = "macos"))))
        || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].into_iter().any(is_set);
    has_screen && !is_set("CI") && !is_remote()
}

/// Whether whoever started the program sits at another machine.
pub(crate) fn is_remote() -> bool {
    ["SSH_CONNECTION", "SSH_TTY"].into_iter().any(|name| env::var_os(name).is_some())
}

/// Hands the browser an address if that is wanted and possible, or says how to reach the page.
pub(crate) fn open(url: &str, handed: Option<&str>) {
    if is_remote() {
        eprintln!("{}", from_afar(url));
    } else if handed.is_some_and(|handed| !is_there() || webbrowser::open(handed).is_err()) {
        eprintln!("No browser could be started; open the address above in a browser on this machine.");
    }
}

fn from_afar(url: &str) -> String {
    let port = url.split([':', '/']).nth(4).unwrap_or_default();
    format!("On your own machine, run `ssh -L {port}:127.0.0.1:{port} HOST` and open the address there.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_over_ssh_names_the_port() {
        assert!(from_afar("http://127.0.0.1:8123/?token=abc").contains("-L 8123:127.0.0.1:8123"));
    }
}
