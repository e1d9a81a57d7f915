//! Our Reticulum node with PyPI rns 1.5.7, and with itself, in every role: who begins, who answers, who is between.

use tests::reticulum::{
    AccessCode, Cast, Content, Medium, Player, Stage,
    scenarios::{
        OVER_THREE_HOPS, Scenario, announces, broadcasts, channels, links, packets, ratchets, requests,
        resources,
    },
};

/// Plays scenarios one after the other between the same nodes, for each way that one of two is ours, or both are.
fn play(stage: impl Fn() -> Stage, scenarios: &[Scenario]) {
    for cast in [OURS_BEGINS, OURS_ANSWERS, OURS_ALONE] {
        stage().without_ingress_control().play_all(cast, scenarios);
    }
}

#[test]
fn packets_pass_over_every_medium() {
    for medium in [Medium::Tcp, Medium::Udp, Medium::Backbone, Medium::BackboneToTcp, Medium::Pipe] {
        play(|| Stage::pair(medium), &[packets::are_proved]);
    }
}

#[test]
fn announces_are_heard_cross_repeat_and_come_on_request() {
    play(
        || Stage::pair(Medium::Tcp),
        &[|a, b| announces::are_heard(a, b, 1), announces::cross, announces::can_be_repeated],
    );
    play(|| Stage::pair(Medium::Udp), &[announces::cross, announces::are_given_on_request]);
}

#[test]
fn bursts_of_announces_are_held_back() {
    for cast in [OURS_BEGINS, OURS_ANSWERS, OURS_ALONE] {
        Stage::pair(Medium::Tcp).play_all(cast, &[announces::are_held_back_in_bursts]);
    }
}

#[test]
fn packets_are_proved_as_the_destination_wants() {
    play(|| Stage::pair(Medium::Tcp), &[packets::are_proved_on_wish, packets::arrive_without_proof]);
}

#[test]
fn explicit_proofs_do_as_well_as_implicit_ones() {
    let stage = || Stage::pair(Medium::Udp).with_option("use_implicit_proof", "no");
    play(stage, &[packets::are_proved]);
}

#[test]
fn links_carry_packets_identify_and_close() {
    play(|| Stage::pair(Medium::Tcp), &links::ALL);
}

#[test]
fn the_mtu_of_a_link_is_that_of_its_medium() {
    play(|| Stage::pair(Medium::Tcp), &[|a, b| links::have_mtu(a, b, 16_384)]);
    play(|| Stage::pair(Medium::Udp), &[|a, b| links::have_mtu(a, b, 500)]);
    play(|| Stage::pair(Medium::Backbone), &[|a, b| links::have_mtu(a, b, 32_768)]);
    play(|| Stage::pair(Medium::BackboneToTcp), &[|a, b| links::have_mtu(a, b, 16_384)]);
}

#[test]
fn requests_are_answered() {
    play(|| Stage::pair(Medium::Tcp), &requests::ALL);
}

#[test]
fn resources_of_every_length_arrive() {
    play(|| Stage::pair(Medium::Tcp), &resources::OF_EVERY_LENGTH);
}

#[test]
fn resources_arrive_in_small_frames() {
    play(|| Stage::pair(Medium::Udp), &[|a, b| resources::arrive(a, b, Content::random(1, 60_000))]);
}

#[test]
fn resources_wait_can_be_refused_and_cancelled() {
    play(|| Stage::pair(Medium::Tcp), &resources::UNDER_CONTROL);
}

#[test]
fn channels_and_buffers_keep_their_order() {
    for medium in [Medium::Tcp, Medium::Udp] {
        play(|| Stage::pair(medium), &[channels::carry_messages, channels::carry_buffers]);
    }
}

#[test]
fn ratchets_are_used() {
    play(|| Stage::pair(Medium::Tcp), &ratchets::ALL);
}

#[test]
fn groups_and_everyone_are_reached() {
    for medium in [Medium::Tcp, Medium::Udp] {
        play(|| Stage::pair(medium), &[broadcasts::reach_a_group, broadcasts::reach_everyone]);
    }
}

#[test]
fn closed_networks_work_within_and_not_across() {
    let (ours, theirs) = (access("ours"), access("theirs"));
    for medium in [Medium::Tcp, Medium::Udp] {
        let within = || Stage::pair(medium).with_access(&ours);
        play(within, &[packets::are_proved, links::carry_packets]);
        play(|| Stage::pair(medium).with_two_accesses(&ours, &theirs), &[announces::are_not_heard]);
    }
}

#[test]
fn we_stand_between_two_of_theirs() {
    over_three_hops(Cast { relay: Player::IOLITE, ..Cast::REFERENCE });
}

#[test]
fn they_stand_between_two_of_ours() {
    over_three_hops(Cast { relay: Player::REFERENCE, ..OURS_ALONE });
}

#[test]
fn we_stand_between_them_and_us() {
    over_three_hops(Cast { relay: Player::IOLITE, ..OURS_BEGINS });
    over_three_hops(Cast { relay: Player::IOLITE, ..OURS_ANSWERS });
}

#[test]
fn our_own_are_enough() {
    over_three_hops(OURS_ALONE);
}

fn over_three_hops(cast: Cast) {
    Stage::line(Medium::Tcp, 2).without_ingress_control().play_all(cast, &OVER_THREE_HOPS);
}

const OURS_BEGINS: Cast =
    Cast { initiator: Player::IOLITE, responder: Player::REFERENCE, relay: Player::IOLITE };

const OURS_ANSWERS: Cast =
    Cast { initiator: Player::REFERENCE, responder: Player::IOLITE, relay: Player::IOLITE };

const OURS_ALONE: Cast = Cast { initiator: Player::IOLITE, responder: Player::IOLITE, relay: Player::IOLITE };

fn access(passphrase: &str) -> AccessCode {
    AccessCode {
        network_name: Some("iolite".into()),
        passphrase: Some(passphrase.into()),
        ..AccessCode::default()
    }
}
