//! Scenarios: what a failing one leaves behind, and operations from bytes and from proptest.

mod postman;

use netsim::{ByteEntropy, Conditions, Network, NodeId, Op, capture::Capture, scenario};
use postman::{Postman, payloads};
use proto_core::Rng;
use std::{env, fs, net::SocketAddr, panic::catch_unwind, path::PathBuf, time::Duration};

fn pair(net: &mut Network<Postman>) -> [NodeId; 2] {
    [net.add_node(Postman::new()), net.add_node(Postman::new())]
}

fn addresses() -> Vec<SocketAddr> {
    let mut net = Network::new(0);
    pair(&mut net).map(|id| net.address(id)).to_vec()
}

fn run(net: &mut Network<Postman>, ops: &[Op<u8>]) {
    let [a, b] = pair(net);
    for op in ops {
        net.apply(op, |net, node, byte| {
            let to = net.address(if node == a { b } else { a });
            net.command(node, |postman, _| postman.send(to, &[*byte]));
        });
    }
    // However the operations went: once healed, both ways are open.
    net.apply(&Op::<u8>::HealAll, |_, _, _| {});
    net.run_for(Duration::from_secs(120));
    for (from, to) in [(a, b), (b, a)] {
        net.take_events(to);
        let address = net.address(to);
        net.command(from, |postman, _| postman.send(address, b"still here"));
        net.run_for(Duration::from_secs(1));
        assert_eq!(payloads(net.take_events(to)), [b"still here"]);
    }
}

fn capture_of(name: &str, default_seed: u64) -> PathBuf {
    let seed = env::var(netsim::SEED_VARIABLE).unwrap_or_else(|_| default_seed.to_string());
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    workspace.join(target).join(format!("netsim/{name}-{seed}.pcapng"))
}

#[test]
fn a_failed_scenario_leaves_its_datagrams_behind() {
    let file = capture_of("a_scenario_that_fails", 7);
    let _ = fs::remove_file(&file);
    let failure = catch_unwind(|| {
        scenario("a_scenario_that_fails", [7], |net| {
            let [a, b] = pair(net);
            net.set_paths(&Conditions::lossy(Duration::ZERO, 1.0));
            let to = net.address(b);
            net.command(a, |postman, _| postman.send(to, b"evidence"));
            panic!("on purpose");
        });
    });
    assert_eq!(failure.unwrap_err().downcast_ref(), Some(&"on purpose"));
    let bytes = fs::read(&file).unwrap();
    let frames: Vec<_> = Capture::open(&bytes).unwrap().map(Result::unwrap).collect();
    assert_eq!(frames[0].udp().unwrap().payload, b"evidence");
    assert_eq!(frames[0].comment.as_deref(), Some("lost: random loss"));
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_scenario_runs_once_for_each_seed() {
    let mut draws = vec![];
    scenario("each_seed", 0..5, |net: &mut Network<Postman>| draws.push(net.machine_seed()));
    draws.dedup();
    let expected = if env::var_os(netsim::SEED_VARIABLE).is_some() { 1 } else { 5 };
    assert_eq!(draws.len(), expected);
}

#[test]
fn any_bytes_make_a_scenario() {
    let addresses = addresses();
    for seed in 0..50 {
        let mut bytes = vec![0; 400];
        Rng::from_u64(seed).fill(&mut bytes);
        let (ops, chance) = bytes.split_at(300);
        let ops = Op::decode(&mut ByteEntropy::new(ops), &addresses, 100, |bytes| Some(bytes.byte()));
        run(&mut Network::with_entropy(ByteEntropy::new(chance)), &ops);
    }
}

#[cfg(feature = "proptest")]
mod with_proptest {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn any_operations_leave_a_network_that_works(
            seed: u64,
            ops in prop::collection::vec(netsim::strategy::op(addresses(), any::<u8>()), 0..50),
        ) {
            run(&mut Network::new(seed), &ops);
        }
    }
}
