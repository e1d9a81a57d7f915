//! The measurement finds plausible numbers and wrong echoes.

mod command;

use command::{Running, iolite};

#[test]
fn a_bench_against_itself_counts_every_message() {
    let bench = iolite(&["raknet", "bench", "--self", "-c", "3", "-n", "200", "-s", "1k", "--json"]);
    assert_eq!(bench.code, Some(0), "{bench:?}");
    let result = &bench.json_lines()[0];
    assert_eq!((&result["messages"], &result["size"]), (&600.into(), &1_024.into()), "{result}");
    let [p50, max] = ["p50", "max"].map(|name| result["rtt_ms"][name].as_f64().unwrap());
    assert!(p50 > 0.0 && p50 <= max, "{result}");
}

#[test]
fn a_bench_for_a_time_prints_a_table() {
    let mut server = Running::start(&["raknet", "serve", "--listen", "127.0.0.1:0", "--json"]);
    let address = server.address();
    let bench = iolite(&["raknet", "bench", &address, "--duration", "300ms", "--inflight", "16"]);
    assert_eq!(bench.code, Some(0), "{bench:?}");
    assert!(bench.stdout.contains("messages/s") && bench.stdout.contains("p99"), "{}", bench.stdout);
}
