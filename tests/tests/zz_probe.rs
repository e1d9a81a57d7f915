use std::time::Instant;
use tests::reticulum::*;
use tests::reticulum::scenarios::*;
const B: Cast = Cast{initiator: Player::IOLITE, responder: Player::REFERENCE, relay: Player::IOLITE};
const A: Cast = Cast{initiator: Player::REFERENCE, responder: Player::IOLITE, relay: Player::IOLITE};
const O: Cast = Cast{initiator: Player::IOLITE, responder: Player::IOLITE, relay: Player::IOLITE};
fn t(name: &str, stage: impl Fn() -> Stage, s: &dyn Fn(&mut dyn ReticulumPeer, &mut dyn ReticulumPeer)) {
    for (n, c) in [("I>R", B), ("R>I", A), ("I>I", O), ("R>R", Cast::REFERENCE)] {
        let t = Instant::now();
        stage().without_ingress_control().play(c, |a, b| {
            let up = t.elapsed();
            let t = Instant::now();
            s(a, b);
            println!("TIME {name} {n}: up {up:?}, scenario {:?}", t.elapsed());
        });
    }
}
#[test]
fn probe() {
    t("nothing", || Stage::pair(Medium::Udp), &|_, _| ());
    t("packets", || Stage::pair(Medium::Tcp), &|a, b| packets::are_proved(a, b));
    t("messages udp", || Stage::pair(Medium::Udp), &|a, b| channels::carry_messages(a, b));
    t("messages tcp", || Stage::pair(Medium::Tcp), &|a, b| channels::carry_messages(a, b));
    t("buffers tcp", || Stage::pair(Medium::Tcp), &|a, b| channels::carry_buffers(a, b));
    t("buffers udp", || Stage::pair(Medium::Udp), &|a, b| channels::carry_buffers(a, b));
    t("link packets", || Stage::pair(Medium::Tcp), &|a, b| links::carry_packets(a, b));
    t("resource 5M", || Stage::pair(Medium::Tcp), &|a, b| resources::arrive_one_way(a, b, Content::random(4, 5 << 20)));
    t("resource 1M", || Stage::pair(Medium::Tcp), &|a, b| resources::arrive(a, b, Content::random(4, (1 << 20) - 1)));
    t("resource 1MC", || Stage::pair(Medium::Tcp), &|a, b| resources::arrive(a, b, Content::compressible(4, (1 << 20) - 1)));
    t("wait", || Stage::pair(Medium::Tcp), &|a, b| resources::wait_for_each_other(a, b));
    t("cancel s", || Stage::pair(Medium::Tcp), &|a, b| resources::can_be_cancelled_by_sender(a, b));
    t("cancel r", || Stage::pair(Medium::Tcp), &|a, b| resources::can_be_cancelled_by_receiver(a, b));
    t("long answers", || Stage::pair(Medium::Tcp), &|a, b| requests::get_long_answers(a, b));
    t("files", || Stage::pair(Medium::Tcp), &|a, b| requests::get_files(a, b));
}
