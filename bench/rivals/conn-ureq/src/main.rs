//! ureq 3, one agent.

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Identity};
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    // Fails only where one was installed before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arena = Arena::open(&command)?;
    let mut config = Agent::config_builder().proxy(None);
    if command.scheme.is_secure() {
        let certificate = Certificate::from_pem(&Identity::of(&command)?.certificate_pem()?)?;
        let roots = RootCerts::new_with_certs(&[certificate]);
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    let agent = Agent::new_with_config(config.build());
    let url = format!("{}://{}/echo", command.scheme, arena.address());
    let mut course = Course::begin(&command, &arena);
    let message = course.message();
    while course.goes_on() {
        let mut response = agent.post(&url).send(&message[..])?;
        course.accept(&response.body_mut().read_to_vec()?)?;
    }
    Ok(course.report().print()?)
}
