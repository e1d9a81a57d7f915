//! Telling Reticulum from other protocols.

use proto_rns::{
    transport::BASE_MTU,
    wire::{
        Announce, Context, DestinationType, LinkProof, LinkRequest, Packet, PacketType, PathRequest,
        TunnelSynthesis,
    },
};

/// Says whether a packet is one that nothing else looks like.
pub(super) fn is_certain(packet: &Packet<'_>) -> bool {
    match packet.packet_type {
        // The address follows from the contents.
        PacketType::Announce => {
            Announce::parse(packet).is_ok_and(|announce| announce.destination() == packet.destination)
        }
        PacketType::LinkRequest => {
            packet.destination_type == DestinationType::Single
                && packet.context == Context::None
                && LinkRequest::parse(packet.data).is_ok()
        }
        PacketType::Proof => {
            packet.context == Context::LinkRequestProof
                && packet.destination_type == DestinationType::Link
                && LinkProof::parse(packet.data).is_ok()
        }
        PacketType::Data => {
            packet.encoded_len() <= BASE_MTU
                && [PathRequest::DESTINATION, TunnelSynthesis::DESTINATION].contains(&packet.destination)
        }
    }
}
