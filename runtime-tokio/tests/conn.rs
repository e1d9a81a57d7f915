//! The scenarios of the connection faces on tokio, with one thread and with several.

#[macro_use]
#[path = "../../runtime-core/suite/conn/mod.rs"]
mod suite;
mod threads;

#[cfg(test)]
mod on_one_thread {
    use super::{suite, threads};

    conn_scenarios!(runtime_tokio::Tokio, threads::one);
}

#[cfg(test)]
mod on_several_threads {
    use super::{suite, threads};

    conn_scenarios!(runtime_tokio::Tokio, threads::several);
}
