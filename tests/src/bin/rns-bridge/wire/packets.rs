//! Single packets and their receipts.

use super::instance::{Instance, destination, patience};
use crate::call::{Answer, Failure, Params};
use proto_rns::{DestinationHash, PacketHash};
use serde_json::json;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "send_opportunistic" => send_and_wait(instance, params),
        "opportunistic_poll" => poll(instance, params),
        "send_packet" => send(instance, params),
        "packet_receipt_status" => receipt(instance, params),
        _ => return None,
    })
}

fn send_packet(instance: &Instance, params: Params<'_>) -> Result<(DestinationHash, PacketHash), Failure> {
    let to = destination(params)?;
    let data = params.some_bytes("data")?.unwrap_or_default();
    Ok((to, instance.with(|node, _, now| node.send(now, to, &data))?))
}

fn send_and_wait(instance: &Instance, params: Params<'_>) -> Answer {
    let (_, packet) = send_packet(instance, params)?;
    let fate = instance.until(patience(params, 5_000)?, |_, watcher, _| watcher.fates.get(&packet).copied());
    let delivered = fate == Some(true);
    let status = if delivered { "delivered" } else { "timeout" };
    Ok(json!({"sent": true, "delivered": delivered, "status": status}))
}

fn poll(instance: &Instance, params: Params<'_>) -> Answer {
    let own = destination(params)?;
    let packets = instance.until(patience(params, 5_000)?, |_, watcher, _| {
        let (mine, others): (Vec<_>, Vec<_>) =
            core::mem::take(&mut watcher.packets).into_iter().partition(|(to, _)| *to == own);
        watcher.packets = others;
        (!mine.is_empty()).then_some(mine)
    });
    let packets = packets.unwrap_or_default();
    Ok(json!({"packets": packets.into_iter().map(|(_, data)| hex::encode(data)).collect::<Vec<_>>()}))
}

fn send(instance: &Instance, params: Params<'_>) -> Answer {
    let (to, packet) = send_packet(instance, params)?;
    let hops = instance.read(|node, _| node.router().hops_to(to));
    let receipt = params.flag("create_receipt", true).then(|| packet.to_string());
    Ok(json!({"sent": true, "receipt_id": receipt, "hops": hops}))
}

/// A receipt is known by its packet.
fn receipt(instance: &Instance, params: Params<'_>) -> Answer {
    let packet = PacketHash::new(params.array("receipt_id")?);
    let fate = instance.until(patience(params, 0)?, |_, watcher, _| watcher.fates.get(&packet).copied());
    let (number, name) = match fate {
        None => (1, "SENT"),
        Some(false) => (0, "FAILED"),
        Some(true) => (2, "DELIVERED"),
    };
    let delivered = fate == Some(true);
    Ok(json!({"status": number, "status_name": name, "delivered": delivered, "proved": delivered}))
}
