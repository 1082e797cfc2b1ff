// SPDX-License-Identifier: Apache-2.0
//! A board without a build: real bitstreams of made-up contents, and slots that compute in software.
#![allow(dead_code)] // every test file uses its own part

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ace_board::config::SlotKind;
use ace_board::frame::{self, Header, Status, flag, op};
use ace_board::model::{Frame, ModelError, Options, RunError, SlotModel, Stopped};
use ace_board::pass::{Pass, Task};
use ace_board::{
    Board, BoardConfig, Catalogue, Configuration, ModelSource, Models, Policy, Unsigned, record,
};
use ace_ecp5::{ConfigMemory, Device, Emit};
use ace_engine::algorithm::{ALGORITHMS, Algorithm};
use ace_engine::{Direction, Engine, EngineError, Job, Kind, Mode, Secret, compute as software, engine};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// How slots are to misbehave, by configuration: the numbers of the frames (counted from 0 over all slots).
#[derive(Default)]
pub struct Mischief {
    pub silent: Vec<u64>,
    pub status: Vec<u64>,
    pub garbage: Vec<u64>,
    pub frames: BTreeMap<String, u64>,
}

/// Slots in software.
#[derive(Clone, Default)]
pub struct SoftSlots(pub Arc<Mutex<BTreeMap<String, Mischief>>>);

impl ModelSource for SoftSlots {
    fn runs(&self, _: SlotKind) -> bool {
        true
    }

    fn open(&self, configuration: &Configuration, _: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        let codes = configuration.can.iter().map(|c| c.code).collect();
        Ok(Box::new(SoftSlot {
            name: configuration.name.clone(),
            codes,
            key: None,
            clocks: 0,
            in_flight: configuration.in_flight,
            joined: Vec::new(),
            entrance: 0,
            silent: false,
            mischief: Arc::clone(&self.0),
        }))
    }
}

struct SoftSlot {
    name: String,
    codes: Vec<u8>,
    /// Whether it is an HMAC key, and the key.
    key: Option<(bool, Vec<u8>)>,
    clocks: u64,
    in_flight: usize,
    /// Frames that joined and are not answered, and from when on the next one comes in.
    joined: Vec<(u64, Frame)>,
    entrance: u64,
    silent: bool,
    mischief: Arc<Mutex<BTreeMap<String, Mischief>>>,
}

impl SlotModel for SoftSlot {
    fn run(&mut self, frames: &mut [Frame], _: &Options) -> Result<(), RunError> {
        assert!(frames.len() <= self.in_flight, "more frames than the slot takes");
        let mut end = self.clocks;
        for frame in frames {
            let mischief = Arc::clone(&self.mischief);
            let mut all = mischief.lock().unwrap();
            let mischief = all.entry(self.name.clone()).or_default();
            let count = mischief.frames.entry("all".into()).or_default();
            let number = *count;
            *count += 1;
            if mischief.silent.contains(&number) {
                self.key = None;
                return Err(RunError::Silent);
            }
            if mischief.garbage.contains(&number) {
                frame.response = vec![0xff; 16];
                return Ok(());
            }
            let tag = frame.request[4..6].to_vec();
            let answer = if mischief.status.contains(&number) {
                Err(Status::BadIvLength)
            } else {
                self.answer(&frame.request)
            };
            let (status, mut response) = match answer {
                Ok(result) => (Status::Ok, result),
                Err(status) => (status, Vec::new()),
            };
            let len = response.len() as u32;
            response.resize(frame::padded(response.len()), 0);
            response.extend_from_slice(&len.to_le_bytes());
            response.extend_from_slice(&tag);
            response.extend_from_slice(&[status as u8, 0]);
            // A clock per beat and eleven per 16 bytes.
            let work = (frame.request.len() / 8 + frame.request.len() / 16 * 11) as u64;
            // All of them overlap; the next one comes when this one is in.
            frame.first_in = self.clocks;
            frame.last_out = self.clocks + work;
            self.clocks += frame.request.len() as u64 / 8;
            end = end.max(frame.last_out + 1);
            assert!(response.len() <= frame.capacity, "no room for the response");
            frame.response = response;
        }
        self.clocks = end;
        Ok(())
    }

    fn join(&mut self, number: u64, mut frame: Frame) -> u64 {
        assert!(self.joined.len() < self.in_flight, "more frames than the slot takes");
        let now = self.clocks;
        self.clocks = now.max(self.entrance);
        self.silent |= self.run(std::slice::from_mut(&mut frame), &Options::default()).is_err();
        if frame.last_out == 0 {
            // What is no answer comes at once.
            (frame.first_in, frame.last_out) = (self.clocks, self.clocks);
        }
        self.entrance = frame.first_in + frame.request.len() as u64 / 8;
        self.clocks = now;
        self.joined.push((number, frame));
        now
    }

    fn go(&mut self, until: u64, max_clocks: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        if self.silent {
            (self.silent, self.joined) = (false, Vec::new());
            return Err(Stopped { error: RunError::Silent, clock: self.clocks + max_clocks });
        }
        let next = (0..self.joined.len()).min_by_key(|at| self.joined[*at].1.last_out);
        match next.filter(|at| self.joined[*at].1.last_out < until) {
            Some(at) => {
                let (number, frame) = self.joined.remove(at);
                self.clocks = self.clocks.max(frame.last_out + 1);
                Ok(Some((number, frame)))
            }
            None => {
                self.clocks = if self.joined.is_empty() { self.clocks } else { self.clocks.max(until) };
                Ok(None)
            }
        }
    }

    fn reset(&mut self) {
        self.key = None;
        self.clocks = 0;
    }

    fn clocks(&self) -> u64 {
        self.clocks
    }
}

impl SoftSlot {
    fn answer(&mut self, request: &[u8]) -> Result<Vec<u8>, Status> {
        let header = Header::from_bytes(request).ok_or(Status::FrameShort)?;
        if !self.codes.contains(&header.algorithm) {
            return Err(Status::UnknownAlgorithm);
        }
        let mut rest = &request[16..];
        let mut section = |len: usize| {
            let (section, tail) = rest.split_at(frame::padded(len));
            rest = tail;
            section[..len].to_vec()
        };
        let key = section(usize::from(header.key_len));
        let iv = section(usize::from(header.iv_len));
        let data = section(header.payload_len as usize);
        let hmac = header.op == op::HMAC_KEY;
        if header.flags & flag::FRESH_KEY != 0 {
            self.key = Some((hmac, key));
        }
        let key = match &self.key {
            Some((kind, key)) if *kind == hmac => key.clone(),
            _ if header.op == op::HASH => Vec::new(),
            _ => return Err(Status::MissingKey),
        };
        let algorithm = |cipher: bool| -> Result<&'static Algorithm, Status> {
            let fits = |a: &&&Algorithm| {
                a.code == header.algorithm
                    && match a.kind {
                        Kind::Cipher { keys, .. } => cipher && keys.contains(&key.len()),
                        Kind::Hash { .. } => !cipher,
                    }
            };
            ALGORITHMS.iter().find(fits).copied().ok_or(Status::BadKeyLength)
        };
        let decrypt = header.flags & flag::DECRYPT != 0;
        let cipher = |mode: Mode| -> Result<Pass, Status> {
            let direction = if decrypt { Direction::Decrypt } else { Direction::Encrypt };
            let (algorithm, key) = (algorithm(true)?, Secret::new(key.clone()));
            Ok(Pass::Cipher { algorithm, mode, direction, key, iv: iv.clone() })
        };
        let pass = match header.op {
            op::ECB => cipher(Mode::Ecb)?,
            op::CBC => cipher(Mode::Cbc)?,
            op::CTR => cipher(Mode::Ctr)?,
            op::CFB => cipher(Mode::Cfb)?,
            op::CFB8 => cipher(Mode::Cfb8)?,
            op::OFB => cipher(Mode::Ofb)?,
            op::HASH => Pass::Hash { algorithm: algorithm(false)? },
            op::HMAC_KEY => Pass::Hmac {
                algorithm: algorithm(false)?,
                key: Secret::new(key.clone()),
                output_len: usize::from(header.result_len),
            },
            _ => return Err(Status::UnknownOperation),
        };
        compute(Task { pass, data }).map_err(|_| Status::BadLength)
    }
}

/// What the CPU makes of a task.
pub fn compute(task: Task) -> Result<Vec<u8>, EngineError> {
    software::run(task.operation()?).map(|buffer| task.result(&buffer))
}

/// What an engine makes of a task.
pub fn run_one(engine: &mut dyn Engine, task: Task) -> Result<Vec<u8>, EngineError> {
    engine::run_one(engine, task.operation()?).map(|buffer| task.result(&buffer))
}

/// What an engine makes of tasks, handed over together, task `n` as packet `n` of the flow `n` modulo `flows`. Each is
/// answered once.
pub fn run_all(engine: &mut dyn Engine, tasks: &[Task], flows: u32) -> Vec<Result<Vec<u8>, EngineError>> {
    let job = |(id, task): (usize, &Task)| Job {
        id: id as u64,
        flow: id as u32 % flows,
        packet: id as u64,
        operation: task.operation().unwrap(),
    };
    let mut done = engine::run_all(engine, tasks.iter().enumerate().map(job).collect());
    done.sort_by_key(|done| done.id);
    assert!(done.iter().map(|done| done.id).eq(0..tasks.len() as u64), "each job is answered once");
    done.iter().zip(tasks).map(|(done, task)| done.result.map(|()| task.result(&done.buffer))).collect()
}

/// Configurations in a folder of their own.
pub struct Build {
    pub folder: TempDir,
    pub software: SoftSlots,
}

/// Digest of the netlist that all made-up configurations are.
pub const NETLIST: &str = "2222222222222222222222222222222222222222222222222222222222222222";

/// What a record of a proof of bits says, of those of this digest.
pub fn record(memory: [u8; 32]) -> serde_json::Value {
    serde_json::json!({
        "format": record::FORMAT, "result": "proven", "points": 7, "memory_sha256": hex(&memory),
        "netlist_sha256": NETLIST,
        "control": { "result": "refuted", "points_refuted": 1, "memory_sha256": "33".repeat(32) },
    })
}

/// Contents of a configuration memory that no other `number` has.
pub fn memory(device: &str, number: u8) -> ConfigMemory {
    let device = Device::by_name(device).unwrap();
    let mut memory = ConfigMemory::new(device);
    let mut frame = vec![0; device.frame_bytes()];
    frame[7] = number + 1;
    assert!(memory.set_frame(100, &frame));
    memory
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl Build {
    /// aes, des (with 3des), md5 and sha1.
    pub fn new() -> Self {
        let build = Self { folder: TempDir::new().unwrap(), software: SoftSlots::default() };
        for (number, name) in ["aes", "des", "md5", "sha1"].into_iter().enumerate() {
            let bits =
                Emit { compress: true, comment: vec![name.into()] }.whole(&memory("LFE5U-45F", number as u8));
            build.write(name, &bits, memory("LFE5U-45F", number as u8).digest(), 80.0 + number as f64);
        }
        build
    }

    /// A configuration's files; the manifest's digest of the bitstream is the one of `bits`.
    pub fn write(&self, name: &str, bits: &[u8], memory: [u8; 32], mhz: f64) {
        let folder = self.folder.path().join("configurations").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.bit")), bits).unwrap();
        let can: Vec<String> = ALGORITHMS
            .iter()
            .filter(|a| a.name == name || (name == "des" && a.name == "3des"))
            .map(|a| match a.kind {
                Kind::Cipher { keys, .. } => format!(
                    r#"{{"algorithm":"{}","code":{},"kind":"cipher","key_bytes":{keys:?},
                    "directions":["encrypt","decrypt"],"modes":["ecb","cbc","ctr","cfb","cfb8","ofb"]}}"#,
                    a.name, a.code
                ),
                Kind::Hash { .. } => format!(
                    r#"{{"algorithm":"{}","code":{},"kind":"hash","operations":["hash","hmac-states","hmac-key"]}}"#,
                    a.name, a.code
                ),
            })
            .collect();
        let file = |name: &str, bytes: &[u8]| {
            let sha = hex(&Sha256::digest(bytes));
            format!(r#"{{"path":"{name}","bytes":{},"sha256":"{sha}"}}"#, bytes.len())
        };
        let manifest = format!(
            r#"{{"schema":1,"name":"{name}","device":"LFE5U-45F","fmax_mhz":{mhz:?},"can":[{}],
            "memory_sha256":"{}","netlist_sha256":"{NETLIST}","files":{{"bitstream":{},"model":{}}},"unknown":1}}"#,
            can.join(","),
            hex(&memory),
            file(&format!("{name}.bit"), bits),
            file("lib.so", b"none")
        );
        std::fs::write(folder.join("manifest.json"), manifest).unwrap();
    }

    /// Makes a configuration's slots work on `frames` at a time.
    pub fn interleave(&self, name: &str, frames: usize) {
        let path = self.folder.path().join("configurations").join(name).join("manifest.json");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(r#""unknown":1"#, &format!(r#""in_flight":{frames}"#))).unwrap();
    }

    pub fn bits(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.bit_file(name)).unwrap()
    }

    pub fn bit_file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("configurations").join(name).join(format!("{name}.bit"))
    }

    pub fn catalogue(&self) -> Catalogue {
        let mut catalogue = Catalogue::find(Some(self.folder.path()));
        assert!(catalogue.problems.is_empty(), "{:?}", catalogue.problems);
        // Nobody has signed or proven what is made up here.
        catalogue.unsigned = Unsigned::Unproven;
        catalogue
    }

    pub fn manifest(&self, name: &str) -> String {
        std::fs::read_to_string(self.at("configurations").join(name).join("manifest.json")).unwrap()
    }

    /// Puts a record of a proof beside a configuration.
    pub fn prove(&self, name: &str, record: &serde_json::Value) {
        let file = self.at("configurations").join(name).join("proof.json");
        std::fs::write(file, record.to_string()).unwrap();
    }

    /// A file in the build folder.
    pub fn at(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub fn board(&self, policy: Policy) -> Board {
        self.board_of(BoardConfig::default(), policy)
    }

    pub fn board_of(&self, config: BoardConfig, policy: Policy) -> Board {
        let source = Box::new(self.software.clone());
        Board::with_source(config, self.catalogue(), policy, Models::Rtl, source).unwrap()
    }

    /// Makes a configuration's slots misbehave.
    pub fn mischief(&self, name: &str, change: impl FnOnce(&mut Mischief)) {
        change(self.software.0.lock().unwrap().entry(name.into()).or_default());
    }
}

/// A file in the repository.
pub fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Random operations that are legal, all algorithms and modes.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % n
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// An operation of `algorithm` on at most `longest` bytes.
    pub fn operation(&mut self, algorithm: &'static Algorithm, longest: u64) -> Task {
        let len = self.below(longest + 1) as usize;
        match algorithm.kind {
            Kind::Cipher { block, keys } => {
                let mode = *self.pick(&Mode::ALL);
                let direction = *self.pick(&[Direction::Encrypt, Direction::Decrypt]);
                let key_len = *self.pick(keys);
                let key = Secret::new(self.bytes(key_len));
                let iv = if mode == Mode::Ecb { Vec::new() } else { self.bytes(block) };
                let len = if mode.whole_blocks() { len / block * block } else { len };
                Task { pass: Pass::Cipher { algorithm, mode, direction, key, iv }, data: self.bytes(len) }
            }
            Kind::Hash { digest, .. } => {
                let pass = if self.below(3) == 0 {
                    Pass::Hash { algorithm }
                } else {
                    // Short, block-long and longer keys, the empty one too.
                    let key_len = *self.pick(&[0, 1, 16, 20, 63, 64, 65, 100, 200]);
                    let output_len = 1 + self.below(digest as u64) as usize;
                    Pass::Hmac { algorithm, key: Secret::new(self.bytes(key_len)), output_len }
                };
                Task { pass, data: self.bytes(len) }
            }
        }
    }
}

/// How much a test does: all of it with `ACE_TESTS=all` (`make test-all`), else a part that takes seconds.
pub fn cases<T>(part: T, all: T) -> T {
    if std::env::var_os("ACE_TESTS").is_some_and(|v| v == "all") { all } else { part }
}

/// The configurations that the flow has built and that compute something in our table. Without any, tests that
/// need them print why they do nothing; `ACE_REQUIRE_BUILD=1` makes that a failure.
pub fn built() -> Catalogue {
    // What is built is what is tested, signed or not.
    let mut catalogue = Catalogue { unsigned: Unsigned::Unproven, ..Catalogue::find(None) };
    catalogue
        .configurations
        .retain(|c| ALGORITHMS.iter().any(|a| c.can.iter().any(|can| can.algorithm == a.name)));
    if std::env::var_os("ACE_REQUIRE_BUILD").is_some_and(|v| v == "1") {
        for algorithm in in_hardware() {
            let of = |c: &Configuration| c.can.iter().any(|can| can.algorithm == algorithm);
            assert!(
                catalogue.configurations.iter().any(of),
                "no configuration for {algorithm}: `make models`"
            );
        }
        assert!(catalogue.problems.is_empty(), "{:?}", catalogue.problems);
    } else if catalogue.configurations.is_empty() {
        eprintln!("skipped: no configurations in {} (`make models` builds them)", catalogue.folder.display());
    }
    catalogue
}

/// Those of which the flow has made the netlist as well: without `ACE_TESTS=all` a fifth, which the commit chooses.
pub fn with_netlists() -> Catalogue {
    let mut catalogue = built();
    let all = catalogue.configurations.len();
    catalogue.configurations.retain(|c| c.netlist_model.is_some());
    let some = catalogue.configurations.len();
    if std::env::var_os("ACE_REQUIRE_BUILD").is_some_and(|v| v == "1") {
        assert!(cases(5 * some, some) >= all, "netlists of {some} of {all}: `make test`, `make test-all`");
    }
    catalogue
}

/// The rooms of the algorithms of this checkout.
fn rooms() -> Vec<ace_algorithms::Algorithm> {
    ace_algorithms::load(&repository("algorithms")).unwrap()
}

/// The algorithms that have a configuration, those of studies aside: others are in software only.
fn in_hardware() -> Vec<String> {
    rooms().into_iter().filter(|room| room.hardware).map(|room| room.name).collect()
}

/// Published known answers: what they are of, and the file.
pub fn published() -> Vec<(String, std::path::PathBuf)> {
    rooms().iter().flat_map(|room| room.known_answers().unwrap()).collect()
}

/// The algorithms of our table that a configuration computes.
pub fn algorithms(configuration: &Configuration) -> Vec<&'static Algorithm> {
    let can = |a: &Algorithm| configuration.can.iter().any(|c| c.algorithm == a.name && c.code == a.code);
    ALGORITHMS.iter().copied().filter(|a| can(a)).collect()
}
