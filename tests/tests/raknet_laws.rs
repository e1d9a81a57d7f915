//! RakNet's machine keeps the laws of machines in both roles and in the middle of a session.

use netsim::laws;
use tests::raknet::EndpointSubject;

#[test]
fn a_server_keeps_the_laws() {
    laws::check(&EndpointSubject::Server);
}

#[test]
fn a_connecting_client_keeps_the_laws() {
    laws::check(&EndpointSubject::Client);
}

#[test]
fn a_client_that_connects_on_a_socket_of_its_own_keeps_the_laws() {
    laws::check(&EndpointSubject::ClientApart);
}

#[test]
fn an_endpoint_with_a_session_keeps_the_laws() {
    laws::check(&EndpointSubject::Connected);
}
