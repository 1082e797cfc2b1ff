// SPDX-License-Identifier: Apache-2.0
//! What random orders of one thread do not come to: writes while a copy is on its way, and questions that come too late.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::*;
use crate::keys::role::Phase;
use crate::keys::{Storage, lock};

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Storage for Bytes {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(lock(&self.0).clone())
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut all, at) = (lock(&self.0), at as usize);
        let end = all.len().max(at + bytes.len());
        all.resize(end, 0);
        all[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        *lock(&self.0) = bytes.to_vec();
        Ok(())
    }
}

fn state(of: &Bytes) -> State {
    State::read(Path::new("state"), Box::new(of.clone())).unwrap()
}

/// A way on which the gateway writes something at every question that its lock is free for.
struct Busy {
    replica: Arc<Mutex<Replica>>,
    mirror: Mirror,
    number: u8,
}

impl Link for Busy {
    fn call(&mut self, request: &Request) -> io::Result<Reply> {
        self.number += 1;
        // Behind the copy its lock is taken: whoever writes waits.
        if self.number <= 3 {
            let (mut mirror, bytes) = (self.mirror.clone(), [self.number; 64]);
            mirror.write_at(192 + 64 * u64::from(self.number), &bytes)?;
            mirror.sync()?;
        }
        Ok(lock(&self.replica).answer(1, request.clone()))
    }
}

#[test]
fn what_is_written_while_a_copy_is_on_its_way_is_in_it() {
    let (ours, theirs) = (Bytes::default(), Bytes::default());
    let (mirror, _) = Mirror::new(state(&ours));
    let replica = Arc::new(Mutex::new(Replica::new(state(&theirs))));
    let link = Busy { replica: Arc::clone(&replica), mirror: mirror.clone(), number: 0 };
    mirror.attach(Box::new(link), true).unwrap();
    let records = |of: &Bytes| lock(&of.0)[192..].to_vec();
    assert_eq!(records(&ours), records(&theirs));
    assert_eq!(records(&ours)[64..256], [[1; 64], [2; 64], [3; 64]].concat());
    // And all that is written from now on.
    let mut storage = mirror.clone();
    storage.write_at(192, &[9; 64]).and_then(|()| storage.sync()).unwrap();
    assert_eq!((records(&ours), records(&theirs)[0]), (records(&theirs), 9));
    assert_eq!(lock(&replica).role().phase, Phase::Standby { whole: true, strict: true });
    assert_eq!(mirror.view().role.phase, Phase::Attached { strict: true });
}

#[test]
fn who_has_taken_over_takes_nothing_more_and_who_went_alone_is_not_believed_to_be_silent() {
    let (ours, theirs) = (Bytes::default(), Bytes::default());
    let salt = state(&ours).salt;
    let hello = |attached| Request::Hello { salt, term: 0, attached };
    let whole = Request::Write(vec![(0, lock(&ours.0).clone())]);
    let mut replica = Replica::new(state(&theirs));
    let tell = |replica: &mut Replica, number, request: &Request| replica.answer(number, request.clone());
    for request in [hello(false), whole, Request::Attach { strict: true }, Request::Beat] {
        assert_eq!(tell(&mut replica, 1, &request), Reply::Done);
    }
    assert_eq!(replica.may_take_over(), Ok(()));
    // Another connection speaks: the one before is heard no more.
    assert_eq!(tell(&mut replica, 2, &hello(true)), Reply::Done);
    assert!(matches!(tell(&mut replica, 1, &Request::Write(vec![(192, vec![1])])), Reply::Refused(_)));
    assert_eq!(replica.may_take_over(), Ok(()));
    // It says that it has used what is not here.
    assert_eq!(tell(&mut replica, 3, &hello(false)), Reply::Done);
    assert!(replica.take_over(true).is_err());
    let attach = [Request::Write(vec![(0, lock(&ours.0).clone())]), Request::Attach { strict: true }];
    attach.iter().for_each(|request| assert_eq!(tell(&mut replica, 3, request), Reply::Done));
    replica.take_over(false).unwrap();
    let before = lock(&theirs.0).clone();
    for request in [Request::Write(vec![(192, vec![1])]), Request::Beat, Request::Goodbye, hello(true)] {
        assert_eq!(tell(&mut replica, 3, &request), Reply::Counting { term: 1 });
    }
    assert_eq!(*lock(&theirs.0), before);
}

#[test]
fn a_state_file_that_is_not_the_pairs_is_refused_and_stays() {
    let (ours, theirs) = (Bytes::default(), Bytes::default());
    let (mirror, _) = Mirror::new(state(&ours));
    let replica = Arc::new(Mutex::new(Replica::new(state(&theirs))));
    let link = || Box::new(Busy { replica: Arc::clone(&replica), mirror: mirror.clone(), number: 9 });
    mirror.attach(link(), true).unwrap();
    let known = lock(&theirs.0).clone();
    // Deleted: it would begin at the first number.
    let (again, _) = Mirror::new(state(&Bytes::default()));
    let why = again.attach(link(), true).unwrap_err().to_string();
    assert!(why.contains("another gateway's, whose keys would be forgotten"), "{why}");
    assert_eq!(*lock(&theirs.0), known);
    // Neither does a copy count, nor whoever was taken over from.
    assert!(state(&theirs).may_count().unwrap_err().to_string().contains("is a standby's copy"));
    assert!(state(&ours).alone().unwrap_err().to_string().contains("put [standby] back"));
    lock(&replica).take_over(false).unwrap();
    assert!(matches!(mirror.attach(link(), true), Err(NotAttached::Counting { term: 1 })));
    assert!(state(&ours).may_count().unwrap_err().to_string().contains("was given over"));
    assert!(state(&theirs).alone().is_ok());
}
