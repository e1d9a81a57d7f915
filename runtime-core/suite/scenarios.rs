//! What turns scenarios into tests.

/// Makes a test of each scenario, with the runtime and a function that runs a future on it.
macro_rules! scenarios {
    ($runtime:ty, $block_on:path; $($scenario:ident)*) => {
        $(#[test]
        fn $scenario() {
            $block_on(suite::$scenario::<$runtime>());
        })*
    };
}
