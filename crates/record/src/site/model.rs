//! Random schedules of calls at one site while the filter changes: `RUSTFLAGS="--cfg traceloom_shuttle"`.

use shuttle::{sync::atomic::AtomicU64 as Shared, thread};

use super::*;
use crate::sync::lock;

/// A generic function has one site for both.
static TYPES: [Types; 2] = [Types::new(&[2]), Types::new(&[4, 4])];
const ABOUT: About<'static> = About {
    name: "%x",
    level: Some(Level::INFO),
    color: None,
    module: "model",
    file: "model.rs",
    line: 1,
    pattern: "",
};

const FIRST: u64 = FIRST_GENERATION as u64;
const LAST: u64 = FIRST + 2;

/// The generation for which a result is cached.
#[derive(Clone, Copy)]
enum Keep {
    /// The generation that was read before the lookup.
    Seen,
    /// The generation after the lookup, as a careless change might use.
    Latest,
}

struct World {
    hub: Hub,
    generation: Shared,
    site: &'static Site,
}

impl World {
    /// What a macro does.
    fn call(&self, types: &'static Types, keep: Keep) -> (u64, Option<SiteId>) {
        let generation = self.generation.load(Ordering::SeqCst) << 32;
        let Some(look) = self.site.look_in(generation) else { return (generation >> 32, None) };
        let id = look.known(types).or_else(|| match keep {
            Keep::Seen => self.site.ask_of(&self.hub, generation, types),
            Keep::Latest => {
                let id = self.hub.register(&ABOUT, types.codes, std::ptr::from_ref(self.site).addr());
                self.site.keep(self.generation.load(Ordering::SeqCst) << 32, id, types);
                id
            }
        });
        (generation >> 32, id)
    }

    /// What `set_filter` does.
    fn set_filter(&self, filter: Filter, generation: u64) {
        lock(&self.hub.registry).filter = filter;
        self.generation.store(generation, Ordering::SeqCst);
    }
}

fn explore(is_on: bool, keep: Keep) {
    let check = move || {
        let site: &'static Site = Box::leak(Box::new(Site::new(ABOUT)));
        let world = Arc::new(World { hub: Hub::default(), generation: Shared::new(FIRST), site });
        let callers: Vec<_> = (0..3)
            .map(|caller| {
                let world = world.clone();
                thread::spawn(move || {
                    for call in 0..4 {
                        let types = &TYPES[(caller + call) % 2];
                        let (generation, id) = world.call(types, keep);
                        if let Some(id) = id {
                            let registry = lock(&world.hub.registry);
                            let site = registry.sites.get(index_of(id.get())).expect("an id is one of a site");
                            assert_eq!(*site.types, *types.codes, "an id stands for the types of the call");
                        }
                        assert!(generation != LAST || id.is_some() == is_on, "the filter of a generation decides");
                    }
                })
            })
            .collect();
        let (last, other) = (Filter::at(Level::INFO), Filter::at(Level::ERROR));
        let (last, other) = if is_on { (last, other) } else { (other, last) };
        world.set_filter(other, FIRST + 1);
        world.set_filter(last, LAST);
        callers.into_iter().for_each(|caller| caller.join().unwrap());
        assert!(TYPES.iter().all(|types| world.call(types, keep).1.is_some() == is_on));
        assert!(lock(&world.hub.registry).sites.len() <= TYPES.len(), "a site has one id for its types");
    };
    shuttle::check_random(check, 2000);
}

#[test]
fn sites_register_once_and_go_by_the_filter_of_their_generation() {
    explore(true, Keep::Seen);
    explore(false, Keep::Seen);
}

#[test]
#[should_panic(expected = "the filter of a generation decides")]
fn an_answer_that_is_kept_for_a_later_generation_would_be_noticed() {
    explore(false, Keep::Latest);
}
