//! The address at which a program can be watched.

use std::{
    env, fmt,
    fs::{self, OpenOptions},
    io::{self, Write},
    net::{SocketAddr, ToSocketAddrs},
    path::{Path, PathBuf},
};

use crate::{Error, Result};

/// A Unix socket, or a port on this machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Address {
    /// A port of the loopback interface.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// `HOST:PORT`, or a path, which has a slash in it or ends in `.sock`.
    pub fn parse(text: &str) -> Result<Self> {
        if text.contains('/') || text.ends_with(".sock") {
            return Ok(Self::Unix(text.into()));
        }
        let invalid = || Error::usage(format!("invalid address `{text}`; expected HOST:PORT or the path of a socket"));
        let found = text.to_socket_addrs().map_err(|_| invalid())?.next().ok_or_else(invalid)?;
        if !found.ip().is_loopback() {
            let message = format!("{text} is another machine; forward the port, for example with `ssh -L`");
            return Err(Error::usage(message));
        }
        Ok(Self::Tcp(found))
    }

    /// The file in which the program stores its token, so that the same user can watch it.
    pub fn token_file(&self) -> PathBuf {
        match self {
            Self::Unix(path) => with_suffix(path, ".token"),
            Self::Tcp(address) => {
                let folder = env::var_os("XDG_RUNTIME_DIR").map_or_else(env::temp_dir, PathBuf::from);
                folder.join(format!("traceloom-live-{}.token", address.port()))
            }
        }
    }

    /// The token that the program stored in its file.
    pub fn token(&self) -> Result<String> {
        let path = self.token_file();
        let token = fs::read_to_string(&path).map_err(|error| Error::from(error).in_file(&path))?;
        Ok(token.trim().to_owned())
    }

    /// Writes a token to its file, which only this user can read.
    pub fn leave_token(&self, token: &str) -> Result<()> {
        let path = self.token_file();
        let in_file = |error: io::Error| Error::from(error).in_file(&path);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(in_file(error)),
            _ => {}
        }
        let mut options = OpenOptions::new();
        // Never reuse a file that somebody else put there.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).and_then(|mut file| file.write_all(token.as_bytes())).map_err(in_file)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_paths_or_ports_of_this_machine() {
        assert_eq!(Address::parse("./app.sock").unwrap(), Address::Unix("./app.sock".into()));
        assert_eq!(Address::parse("app.sock").unwrap().token_file(), Path::new("app.sock.token"));
        let tcp = Address::parse("127.0.0.1:4711").unwrap();
        assert_eq!(tcp, Address::Tcp("127.0.0.1:4711".parse().unwrap()));
        assert!(tcp.token_file().ends_with("traceloom-live-4711.token"));
        assert!(Address::parse("192.0.2.1:80").unwrap_err().to_string().contains("another machine"));
        assert!(Address::parse("nonsense").unwrap_err().to_string().contains("invalid address"));
    }
}
