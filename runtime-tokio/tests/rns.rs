//! The Reticulum face's scenarios on tokio, with one thread and with several.

#[macro_use]
#[path = "../../runtime-core/suite/rns/mod.rs"]
mod suite;
mod threads;

#[cfg(test)]
mod on_one_thread {
    use super::{suite, threads};

    rns_scenarios!(runtime_tokio::Tokio, threads::one);
}

#[cfg(test)]
mod on_several_threads {
    use super::{suite, threads};

    rns_scenarios!(runtime_tokio::Tokio, threads::several);
}
