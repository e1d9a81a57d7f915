//! The laws of the contract, for a Reticulum node with a stream and a UDP interface.

use netsim::laws;
use tests::mesh::NodeSubject;

#[test]
fn a_node_keeps_the_laws() {
    laws::check(&NodeSubject);
}
