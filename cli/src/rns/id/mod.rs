//! `iolite rns id`: identities, and what is signed and encrypted with them.
//!
//! - [`find`]: which identity is meant.
//! - [`show`]: its keys and addresses.
//! - [`signature`] and [`sign`]: signatures, and files with them.
//! - [`cipher`]: encrypted files.
//! - [`encoding`] and [`written`]: keys as text, files that are written.

mod cipher;
mod encoding;
mod find;
mod show;
mod sign;
mod signature;
mod written;

use clap::{ArgGroup, Args};
use proto_rns::identity::Identity;
use std::{path::PathBuf, time::Duration};

use super::announce;
use crate::{args::values::time, failure::Failure, interrupt::Interrupt};
use encoding::Encoding;
use find::Known;

/// Makes identities, shows their keys and addresses, signs, validates, encrypts and decrypts with them, as rnid does.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    arg_required_else_help = true,
    group = ArgGroup::new("what").multiple(false),
    group = ArgGroup::new("encoding").multiple(false),
)]
pub(crate) struct Id {
    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// The file of the identity, or the hash of an identity or destination that was heard of.
    #[arg(short, long, value_name = "FILE|HASH")]
    identity: Option<String>,

    /// Make a new identity and write it to a file.
    #[arg(short, long, value_name = "FILE", group = "what")]
    generate: Option<PathBuf>,

    /// Take public keys, as text or from a file; -w writes them.
    #[arg(short = 'm', long, value_name = "KEYS", conflicts_with = "identity")]
    import_pub: Option<String>,

    /// Take private keys, as text or from a file; -w writes them.
    #[arg(short = 'M', long, value_name = "KEYS", conflicts_with_all = ["identity", "import_pub"])]
    import_prv: Option<String>,

    /// Print the public keys.
    #[arg(short = 'x', long, group = "what")]
    export_pub: bool,

    /// Print the private keys.
    #[arg(short = 'X', long, group = "what")]
    export_prv: bool,

    /// Show the identity.
    #[arg(short, long, group = "what")]
    print_identity: bool,

    /// Show its private keys, too.
    #[arg(short = 'P', long)]
    print_private: bool,

    /// Show the destination that the identity has under a name.
    #[arg(short = 'H', long, value_name = "NAME", group = "what")]
    hash: Option<String>,

    /// Announce the destination that the identity has under a name.
    #[arg(short, long, value_name = "NAME", group = "what")]
    announce: Option<String>,

    /// Sign files; each signature goes to a file of the same name and .rsg.
    #[arg(short, long, value_name = "FILE", num_args = 1.., group = "what")]
    sign: Vec<PathBuf>,

    /// Validate signatures in .rsg files beside what they sign.
    #[arg(short = 'V', long, value_name = "FILE", num_args = 1.., group = "what")]
    validate: Vec<PathBuf>,

    /// Encrypt files for the identity; each goes to a file of the same name and .rfe.
    #[arg(short, long, value_name = "FILE", num_args = 1.., group = "what")]
    encrypt: Vec<PathBuf>,

    /// Decrypt .rfe files.
    #[arg(short, long, value_name = "FILE", num_args = 1.., group = "what")]
    decrypt: Vec<PathBuf>,

    /// Sign the bytes of the file and not their hash, without naming the signer.
    #[arg(long, requires = "sign")]
    raw: bool,

    /// Where to write, instead of beside the input.
    #[arg(short, long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Overwrite files.
    #[arg(short, long)]
    force: bool,

    /// Ask the network for an identity that was not heard of.
    #[arg(short = 'R', long)]
    request: bool,

    /// Do not look for identities in what was heard before.
    #[arg(short = 'N', long)]
    no_cache: bool,

    /// How long to wait for the network.
    #[arg(short, long, value_name = "TIME", value_parser = time, default_value = "15s")]
    timeout: Duration,

    /// Keys and signatures are text in base32.
    #[arg(short = 'B', long, group = "encoding")]
    base32: bool,

    /// Keys and signatures are text in base64.
    #[arg(short = 'b', long, group = "encoding")]
    base64: bool,

    /// Keys and signatures are text in hexadecimal digits.
    #[arg(short = 'F', long, group = "encoding")]
    hex: bool,

    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Does what the options say.
pub(crate) async fn run(options: Id, interrupt: Interrupt) -> Result<(), Failure> {
    interrupt.or(run_to_end(&options)).await
}

async fn run_to_end(options: &Id) -> Result<(), Failure> {
    if let Some(path) = &options.generate {
        return written::generate(path, options);
    }
    if !options.validate.is_empty() {
        let signer = find::find(options).await?;
        return sign::validate(options, signer.as_ref());
    }
    let Some(known) = find::find(options).await? else {
        return Err(Failure::usage("no identity is named")
            .advise("name its file with -i, or import keys with -m or -M; -g FILE makes a new one"));
    };
    written::keep_imported(&known, options)?;
    if !options.sign.is_empty() {
        return sign::sign(options, secret(&known)?);
    }
    if !options.encrypt.is_empty() {
        return cipher::encrypt(options, &known.public());
    }
    if !options.decrypt.is_empty() {
        return cipher::decrypt(options, secret(&known)?);
    }
    if let Some(name) = &options.announce {
        let identity = secret(&known)?.clone();
        return announce::announce(options.config.as_deref(), name, identity, Vec::new(), options.json).await;
    }
    if let Some(name) = &options.hash {
        return show::destination(options, &known.public(), name);
    }
    if options.export_prv {
        return show::private_keys(options, secret(&known)?);
    }
    if options.export_pub {
        return show::public_keys(options, &known.public());
    }
    show::identity(options, &known)
}

/// Returns the private keys, where what is to be done needs them.
fn secret(known: &Known) -> Result<&Identity, Failure> {
    match known {
        Known::Private(identity) => Ok(identity),
        Known::Public(public) => {
            Err(Failure::usage(format_args!("only the public keys of <{}> are known here", public.hash()))
                .advise("name the file with its private keys with -i"))
        }
    }
}

impl Id {
    /// Returns how keys are written as text.
    const fn encoding(&self) -> Encoding {
        match (self.base32, self.base64) {
            (true, _) => Encoding::Base32,
            (_, true) => Encoding::Base64,
            (false, false) => Encoding::Hex,
        }
    }

    /// Says whether signatures are printed as text instead of written to files.
    const fn wants_text(&self) -> bool {
        self.base32 || self.base64 || self.hex
    }
}

const EXAMPLES: &str = "\
Examples:
  iolite rns id -g me
  iolite rns id -i me -p
  iolite rns id -i me -H lxmf.delivery
  iolite rns id -i me -s note.txt
  iolite rns id -V note.txt.rsg
  iolite rns id -i me -e note.txt";
