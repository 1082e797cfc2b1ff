// SPDX-License-Identifier: Apache-2.0
//! Who has the key is answered, beside strangers who say anything or nothing; nobody else is heard.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

fn key(byte: u8) -> SharedKey {
    SharedKey(Zeroizing::new([byte; 32]))
}

/// A server that counts what it is asked, while something is done.
fn served(what: impl FnOnce(SocketAddr, &AtomicUsize)) {
    let mut server = Server::bind(([127, 0, 0, 1], 0).into(), key(1)).unwrap();
    let at = server.listener.local_addr().unwrap();
    let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                server.serve(start.elapsed(), |number, request| {
                    asked.fetch_add(1, Ordering::Relaxed);
                    Reply::Refused(format!("{number} {request:?}").chars().take(40).collect())
                });
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| what(at, &asked)));
        stop.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn who_has_the_key_is_answered_beside_strangers() {
    served(|at, asked| {
        let mut caller = Caller::connect(at, &key(1), PATIENCE).unwrap();
        let whole = Request::Write(vec![(7, vec![3; 60_000])]);
        let Reply::Refused(words) = caller.call(&whole).unwrap() else { panic!("it refuses") };
        assert!(words.starts_with("1 Write([(7, [3, 3"), "{words}");
        // Twenty who say nothing, half of a frame, or something else.
        let strangers: Vec<TcpStream> = (0..20)
            .map(|n| {
                let mut stream = TcpStream::connect(at).unwrap();
                let _ = stream.write_all(&vec![n; usize::from(n) * 13]);
                stream
            })
            .collect();
        for _ in 0..20 {
            assert!(matches!(caller.call(&Request::Beat), Ok(Reply::Refused(_))));
        }
        let wrong = Caller::connect(at, &key(2), PATIENCE).err().unwrap();
        assert!(wrong.to_string().contains("does not have the same key"), "{wrong}");
        // Whoever comes later is another one.
        let mut second = Caller::connect(at, &key(1), PATIENCE).unwrap();
        let Reply::Refused(words) = second.call(&Request::Beat).unwrap() else { panic!("it refuses") };
        assert!(words.split(' ').next().unwrap().parse::<u64>().unwrap() > 1, "{words}");
        assert_eq!(asked.load(Ordering::Relaxed), 22);
        drop(strangers);
    });
}

/// What a caller said is recorded and said again by somebody without the key: it is answered by nobody.
#[test]
fn what_was_said_once_cannot_be_said_again_or_changed() {
    served(|at, asked| {
        let between = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = between.local_addr().unwrap();
        let recorded = std::thread::scope(|scope| {
            let tap = scope.spawn(|| {
                let (mut near, _) = between.accept().unwrap();
                let mut far = TcpStream::connect(at).unwrap();
                let mut all = Vec::new();
                // A frame there, a frame back: the beginning, and two questions.
                for _ in 0..3 {
                    let until = Instant::now() + PATIENCE;
                    let frame = framed(&receive(&mut near, until).unwrap());
                    far.write_all(&frame).unwrap();
                    near.write_all(&framed(&receive(&mut far, until).unwrap())).unwrap();
                    all.push(frame);
                }
                all
            });
            let mut caller = Caller::connect(there, &key(1), PATIENCE).unwrap();
            assert!(caller.call(&Request::Beat).is_ok() && caller.call(&Request::Goodbye).is_ok());
            tap.join().unwrap()
        });
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        let say = |frames: &[Vec<u8>]| {
            let mut stream = TcpStream::connect(at).unwrap();
            let _ = stream.write_all(&frames.concat());
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        };
        say(&recorded);
        say(&recorded[1..]);
        let bytes: Vec<u8> = recorded.concat();
        let mut runner =
            TestRunner::new(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() });
        let ran = runner.run(&(0..bytes.len(), 1..=255_u8), |(place, bit)| {
            let mut bytes = bytes.clone();
            bytes[place] ^= bit;
            say(&[bytes]);
            Ok(())
        });
        ran.unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_key_is_64_digits_of_which_nobody_else_knows() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pair.key");
    let read = |text: &str, mode| {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        SharedKey::read(&path).map(|key| key.0[31]).map_err(|why| why.to_string())
    };
    let good = "0f".repeat(32);
    assert_eq!(read(&format!("{good}\n"), 0o600), Ok(15));
    for mode in [0o640, 0o604, 0o660, 0o601] {
        assert!(read(&good, mode).unwrap_err().contains("chmod 600"), "{mode:o}");
    }
    for text in ["", "0f", &good[1..], &format!("{good}00"), &good.replace('f', "g")] {
        assert!(
            read(text, 0o600).unwrap_err().contains("pair.key:1: it is no key: 64 hexadecimal digits"),
            "{text}"
        );
    }
    std::fs::remove_file(&path).unwrap();
    assert!(SharedKey::read(&path).err().unwrap().to_string().contains("openssl rand -hex 32"));
}
