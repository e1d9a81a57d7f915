//! Frames in streams.

use crate::{
    call::{Answer, Failure, Params},
    tools::Workbench,
};
use proto_rns::iface::{Deframer, Framing};
use serde_json::json;

pub(super) fn answer(_bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "hdlc_frame" => frame(Framing::Hdlc, params),
        "kiss_frame" => frame(Framing::Kiss, params),
        "hdlc_escape" => escape(params),
        "hdlc_deframe" => deframe(Framing::Hdlc, params),
        "kiss_deframe" => deframe(Framing::Kiss, params),
        "hdlc_deframe_stream" => deframe_stream(Framing::Hdlc, params),
        "kiss_deframe_stream" => deframe_stream(Framing::Kiss, params),
        _ => return None,
    })
}

fn frame(framing: Framing, params: Params<'_>) -> Answer {
    let mut out = Vec::new();
    framing.frame(&[&params.bytes("data")?], &mut out);
    Ok(json!({"framed": hex::encode(out)}))
}

/// What stands between the flags of a frame.
fn escape(params: Params<'_>) -> Answer {
    let mut out = Vec::new();
    Framing::Hdlc.frame(&[&params.bytes("data")?], &mut out);
    Ok(json!({"escaped": hex::encode(out.get(1..out.len() - 1).unwrap_or_default())}))
}

/// Takes one frame out. Frames too short for a packet are ignored by the deframer, so that what is in this one is made
/// longer first, at its end and without escapes.
fn deframe(framing: Framing, params: Params<'_>) -> Answer {
    const FILLING: usize = 20;
    let mut stream = params.bytes("framed")?;
    let flag = match framing {
        Framing::Hdlc => 0x7e,
        Framing::Kiss => 0xc0,
    };
    let flags: Vec<usize> = (0..stream.len()).filter(|place| stream.get(*place) == Some(&flag)).collect();
    let [_, end, ..] = flags.as_slice() else {
        return Err(Failure::new("ValueError: no frame between two flags"));
    };
    stream.splice(end..end, [0; FILLING]);
    let frames = frames(framing, &mut stream, MAX_FRAME);
    let data = frames.first().and_then(|frame| frame.get(..frame.len().checked_sub(FILLING)?));
    let data = data.ok_or_else(|| Failure::new("ValueError: the frame carries no data"))?;
    Ok(json!({"data": hex::encode(data)}))
}

fn deframe_stream(framing: Framing, params: Params<'_>) -> Answer {
    let max_frame = params.some_number("hw_mtu")?.unwrap_or(MAX_FRAME);
    let frames = frames(framing, &mut params.bytes("stream")?, max_frame);
    Ok(json!({"frames": frames.into_iter().map(hex::encode).collect::<Vec<_>>()}))
}

fn frames(framing: Framing, stream: &mut [u8], max_frame: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    Deframer::new(framing, max_frame).feed(stream, |frame| frames.push(frame.to_vec()));
    frames
}

/// The longest frame unless the suite says otherwise.
const MAX_FRAME: usize = 262_144;
