//! The state shared by all requests.

use std::sync::{Arc, RwLock, RwLockReadGuard};

use crate::{
    api::{Answer, Refusal},
    load::Loader,
    scene::Scene,
};

#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) scene: Arc<RwLock<Scene>>,
    pub(crate) loader: Arc<Loader>,
}

impl App {
    /// The scene, for reading.
    pub(crate) fn scene(&self) -> Answer<RwLockReadGuard<'_, Scene>> {
        self.scene.read().map_err(|_| Refusal::broken())
    }
}
