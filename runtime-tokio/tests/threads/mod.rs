//! tokio with one thread and with several.

use tokio::runtime::Builder;

pub(crate) fn one(scenario: impl Future<Output = ()>) {
    run(&mut Builder::new_current_thread(), scenario);
}

pub(crate) fn several(scenario: impl Future<Output = ()>) {
    run(Builder::new_multi_thread().worker_threads(2), scenario);
}

fn run(builder: &mut Builder, scenario: impl Future<Output = ()>) {
    #[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(scenario);
}
