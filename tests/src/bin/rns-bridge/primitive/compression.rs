//! bz2.

use crate::{
    call::{Answer, Failure, Params},
    tools::Workbench,
};
use proto_rns::{bz2::Bz2, compression::Compression};
use serde_json::json;

pub(super) fn answer(_bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "bz2_compress" => compress(params),
        "bz2_decompress" => expand(params),
        _ => return None,
    })
}

/// What compressing does not shorten is never sent compressed, so that there is no stream of it.
#[allow(clippy::cast_precision_loss, reason = "the suite's data are short")]
fn compress(params: Params<'_>) -> Answer {
    let data = params.bytes("data")?;
    let stream = Bz2::at_level(9).compress(&data);
    let stream = stream.ok_or_else(|| Failure::new("ValueError: these data do not get shorter"))?;
    Ok(json!({
        "compressed": hex::encode(&stream),
        "original_size": data.len(),
        "compressed_size": stream.len(),
        "ratio": stream.len() as f64 / data.len().max(1) as f64,
    }))
}

fn expand(params: Params<'_>) -> Answer {
    let data = Bz2::default().expand(&params.bytes("compressed")?, LONGEST)?;
    Ok(json!({"decompressed": hex::encode(&data), "size": data.len()}))
}

/// More than the suite's longest data.
const LONGEST: usize = 64 << 20;
