//! reqwest, driven by tokio on the caller's thread.

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Identity};
use reqwest::{Body, Certificate, Client};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    // Fails only where one was installed before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arena = Arena::open(&command)?;
    let mut builder = Client::builder().http1_only().no_proxy().resolve(Identity::HOST, arena.address());
    builder = if command.scheme.is_secure() {
        builder.tls_certs_only([Certificate::from_pem(&Identity::of(&command)?.certificate_pem()?)?])
    } else {
        builder.tls_certs_only([])
    };
    let client = builder.build()?;
    let url = format!("{}://{}:{}/echo", command.scheme, Identity::HOST, arena.address().port());
    let mut course = Course::begin(&command, &arena);
    let message = bytes::Bytes::from_owner(course.message());
    while course.goes_on() {
        let response = client.post(&url).body(Body::from(message.clone())).send().await?;
        course.accept(&response.bytes().await?)?;
    }
    Ok(course.report().print()?)
}
