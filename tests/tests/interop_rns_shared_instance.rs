//! Shared instances of PyPI rns 1.5.7 and of ours, each with programs of both, and PyPI lxmf over our nodes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::net::{Ipv4Addr, TcpListener};
use tests::reticulum::{
    Cast, Config, Content, Daemon, Iolite, Lxmf, Medium, Player, Reference, ReticulumPeer, SharedInstance,
    Stage, is_skipped,
    scenarios::{announces, links, packets, requests, resources},
};

#[test]
fn our_programs_use_an_instance_of_theirs() {
    let cast = Cast { initiator: Player::IOLITE, responder: Player::IOLITE, relay: Player::REFERENCE };
    within(cast, &SharedInstance::fresh());
    within(cast, &on_tcp());
}

#[test]
fn our_programs_use_an_instance_of_ours() {
    let cast = Cast { initiator: Player::IOLITE, responder: Player::IOLITE, relay: Player::IOLITE };
    within(cast, &SharedInstance::fresh());
    within(cast, &on_tcp());
    behind(cast);
    behind(Cast { responder: Player::REFERENCE, ..cast });
}

#[test]
fn programs_of_both_use_an_instance_of_theirs() {
    let theirs = Cast::REFERENCE;
    within(Cast { initiator: Player::IOLITE, ..theirs }, &SharedInstance::fresh());
    within(Cast { responder: Player::IOLITE, ..theirs }, &SharedInstance::fresh());
}

#[test]
fn our_programs_reach_the_network_through_an_instance_of_theirs() {
    behind(Cast { initiator: Player::IOLITE, ..Cast::REFERENCE });
    behind(Cast { responder: Player::IOLITE, relay: Player::REFERENCE, initiator: Player::IOLITE });
}

#[test]
fn their_programs_use_our_daemon() {
    if is_skipped() {
        return;
    }
    for shared in [SharedInstance::fresh(), on_tcp()] {
        let config = Config::new([]).with_shared(shared);
        let _daemon = Daemon::start(&config);
        let (mut first, mut second) = (Reference::start(&config), Reference::start(&config));
        talk(&mut first, &mut second);
        let mut ours = Iolite::start(&config);
        talk(&mut second, &mut ours);
        talk(&mut ours, &mut first);
    }
}

#[test]
fn their_programs_reach_the_network_through_our_daemon() {
    if is_skipped() {
        return;
    }
    let (listener, connector) = Medium::Tcp.ends();
    let [listener, connector] = [listener, connector].map(|end| end.with_option("ingress_control", "no"));
    let mut far = Reference::start(&Config::new([listener]));
    let shared = SharedInstance::fresh();
    let _daemon = Daemon::start(&Config::new([connector]).with_transport().with_shared(shared.clone()));
    let mut near = Reference::start(&Config::new([]).with_shared(shared));
    announces::are_heard(&mut near, &mut far, 1);
    talk(&mut near, &mut far);
    resources::arrive(&mut near, &mut far, Content::random(1, 300_000));
}

#[test]
fn messages_between_people_pass_our_transport_node() {
    if is_skipped() {
        return;
    }
    let ends = [Medium::Tcp.ends(), Medium::Tcp.ends()];
    let [(here, alice), (there, bob)] = ends;
    let _relay = Iolite::start(&Config::new([here, there]).with_transport());
    Lxmf::start(&Config::new([alice])).write_to(&mut Lxmf::start(&Config::new([bob])));
}

#[test]
fn messages_between_people_pass_our_daemon() {
    if is_skipped() {
        return;
    }
    let config = Config::new([]).with_shared(SharedInstance::fresh());
    let _daemon = Daemon::start(&config);
    Lxmf::start(&config).write_to(&mut Lxmf::start(&config));
}

/// Has two programs of one instance reach each other.
fn within(cast: Cast, shared: &SharedInstance) {
    Stage::within_shared_instance(shared).play(cast, talk);
}

/// Has a program of an instance reach a node in the network of that.
fn behind(cast: Cast) {
    let stage = Stage::behind_shared_instance(&SharedInstance::fresh()).without_ingress_control();
    stage.play(cast, |initiator, responder| {
        announces::are_heard(initiator, responder, 1);
        talk(initiator, responder);
        resources::arrive(initiator, responder, Content::random(1, 300_000));
    });
}

fn talk(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    packets::are_proved(initiator, responder);
    links::carry_packets(initiator, responder);
    requests::are_echoed(initiator, responder);
}

/// An instance on TCP ports that are free now.
fn on_tcp() -> SharedInstance {
    let listeners = [0; 2].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let [data, control] = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port());
    SharedInstance::fresh().on_tcp(data, control)
}
