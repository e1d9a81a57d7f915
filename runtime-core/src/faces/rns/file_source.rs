//! A file as the data of a resource.

use bytes::Bytes;
use proto_rns::resource::{Data, Source};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    sync::{Arc, Mutex, PoisonError},
};

/// A file that is read segment by segment while it is sent, so that it needs no memory beyond two segments.
///
/// The driver's task reads a mebibyte at a time, which blocks it as long as the disk takes. A file that changes or
/// shrinks meanwhile gives the resource up.
#[derive(Debug)]
pub struct FileSource {
    file: Mutex<File>,
    len: u64,
}

impl FileSource {
    /// Takes an open file, as long as it is now.
    ///
    /// # Errors
    /// The file's length cannot be told.
    pub fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file: Mutex::new(file), len })
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; len];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, len: usize) -> Option<Bytes> {
        self.read_at(offset, len).ok().map(Bytes::from)
    }
}

impl From<FileSource> for Data {
    fn from(file: FileSource) -> Self {
        Self::Pulled(Arc::new(file))
    }
}
