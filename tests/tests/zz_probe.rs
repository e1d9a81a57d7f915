use std::time::Duration;
use tests::reticulum::*;
#[test]
fn probe() {
    for ms in [20u64, 250, 400] {
      for cast in [Cast{initiator: Player::REFERENCE, responder: Player::IOLITE, relay: Player::IOLITE}, Cast{initiator: Player::IOLITE, responder: Player::IOLITE, relay: Player::IOLITE}] {
        Stage::pair(Medium::Tcp).play(cast, |a, b| {
            let mut all = vec![];
            for _ in 0..12 {
                let id = b.create_identity();
                let d = b.create_destination(&DestinationSpec::own("x.y", id));
                b.announce(d, None);
                all.push(d);
                std::thread::sleep(Duration::from_millis(ms));
            }
            std::thread::sleep(Duration::from_millis(500));
            let heard: Vec<bool> = all.iter().map(|d| a.hops_to(*d).is_some()).collect();
            println!("{ms} {} {heard:?}", cast.initiator.name);
        });
      }
    }
}
