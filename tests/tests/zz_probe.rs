use std::time::Duration;
use tests::reticulum::*;
#[test]
fn probe() {
    let cast = Cast{initiator: Player::REFERENCE, responder: Player::IOLITE, relay: Player::IOLITE};
    Stage::pair(Medium::Tcp).play(cast, |a, b| {
        let id = b.create_identity();
        let d = b.create_destination(&DestinationSpec::own("x.y", id).answering("/echo", Answer::Echo));
        b.announce(d, None);
        a.announce_of(d);
        a.create_destination(&DestinationSpec::other("x.y", id));
        let l = a.open_link(d);
        a.link_to(d);
        let t = std::time::Instant::now();
        let all: Vec<_> = (0..1000).map(|i| a.request(l, "/echo", Content::random(i, 20))).collect();
        println!("asked {:?}", t.elapsed());
        let mut lost = 0;
        for (i, r) in all.iter().enumerate() {
            let ok = a.event_within(Duration::from_millis(if i == 0 {1000} else {50}), |e| match e { Event::Response(x) if x.request == *r => Some(true), _ => None });
            if ok.is_none() { lost += 1; print!("{i} "); }
        }
        println!("lost {lost}");
    });
}
