//! The Reticulum face's scenarios on tokio, with one thread and with several.

#[macro_use]
#[path = "../../runtime-core/suite/rns/mod.rs"]
mod suite;

#[cfg(test)]
mod on_one_thread {
    use super::suite;

    fn block_on(scenario: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(scenario);
    }

    rns_scenarios!(runtime_tokio::Tokio, block_on);
}

#[cfg(test)]
mod on_several_threads {
    use super::suite;

    fn block_on(scenario: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(scenario);
    }

    rns_scenarios!(runtime_tokio::Tokio, block_on);
}
