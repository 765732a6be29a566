//! An object store on loopback, with credentials: the folders below a root are its buckets.

use std::{net::Ipv4Addr, path::Path};

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use s3s::{auth::SimpleAuth, service::S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::{net::TcpListener, runtime::Runtime};

const KEY: &str = "reader";
pub const SECRET: &str = "a secret for one test";

/// A server that ends with this.
pub struct ObjectStore {
    port: u16,
    _runtime: Runtime,
}

impl ObjectStore {
    pub fn start(root: &Path) -> Self {
        let mut builder = S3ServiceBuilder::new(FileSystem::new(root).expect("a folder"));
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = builder.build();
        let runtime = Runtime::new().expect("threads");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let server = Builder::new(TokioExecutor::new());
                    // A client may disconnect at any time.
                    let _ = server.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
        Self { port, _runtime: runtime }
    }

    /// The environment variables with which a process can reach it.
    pub fn environment(&self, secret: &str) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT", format!("http://127.0.0.1:{}", self.port)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", secret.to_owned()),
        ]
    }
}
