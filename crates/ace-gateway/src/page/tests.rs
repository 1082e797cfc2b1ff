// SPDX-License-Identifier: Apache-2.0
use std::net::TcpStream;
use std::time::Instant;

use super::shown::tests::many;
use super::*;
use crate::status::Status;

fn get(at: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(at).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {at}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it takes it");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it answers");
    response
}

fn open(patience: u64) -> Page {
    let at = "127.0.0.1:0".parse().expect("an address");
    Page::patient(at, Duration::from_millis(patience)).expect("it listens")
}

/// Until the connection is closed, which it has to be after so long at least and at most.
fn closed_within(mut stream: TcpStream, since: Instant, least: u64, most: u64) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
    let mut rest = Vec::new();
    // A connection that is reset is closed as well.
    let _ = stream.read_to_end(&mut rest);
    let took = since.elapsed().as_millis();
    assert!(took >= u128::from(least) && took < u128::from(most), "closed after {took} ms");
}

#[test]
fn browsers_are_answered_beside_clients_that_hang() {
    let mut page = open(3000);
    let at = page.listening;
    // Half of what may come at once says nothing.
    let hanging: Vec<TcpStream> = (0..MOST_CLIENTS / 2).map(|_| TcpStream::connect(at).unwrap()).collect();
    let client = std::thread::spawn(move || {
        let files = FILES.iter().map(|(path, ..)| *path);
        files.chain(["/metrics", "/state.json", "/other"]).map(|path| get(at, path)).collect::<Vec<_>>()
    });
    while !client.is_finished() {
        page.serve(|| State {
            status: Status { version: "7".to_owned(), ..Status::default() },
            ..State::default()
        });
        std::thread::sleep(Duration::from_millis(1));
    }
    let response = client.join().unwrap();
    let [good @ .., metrics, state, other] = &response[..] else { panic!("three more") };
    for response in good.iter().chain([metrics, state]) {
        assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
    }
    let state: State = serde_json::from_str(state.rsplit("\r\n").next().unwrap()).unwrap();
    assert_eq!((state.status.version.as_str(), state.sas.len()), ("7", 0));
    assert!(metrics.contains("ace_gateway_info{version=\"7\""), "{metrics}");
    assert!(other.starts_with("HTTP/1.1 404"));
    // All that the page asks for is there.
    for part in
        include_str!("page.html").split(['"']).filter(|part| part.ends_with(".js") || part.ends_with(".css"))
    {
        assert!(FILES.iter().any(|(path, ..)| path.strip_prefix('/') == Some(part)), "{part}");
    }
    drop(hanging);
    // A gateway that is busy for good.
    assert!(get(at, "/metrics").starts_with("HTTP/1.1 503"));
}

#[test]
fn whoever_sends_a_byte_now_and_then_is_left() {
    let page = open(1000);
    let mut stream = TcpStream::connect(page.listening).expect("it listens");
    let since = Instant::now();
    let mut slow = stream.try_clone().expect("a descriptor");
    let sender = std::thread::spawn(move || {
        for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n" {
            if slow.write_all(&[*byte]).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    stream.flush().expect("nothing waits");
    closed_within(stream, since, 800, 2_800);
    sender.join().expect("it ends");
}

#[test]
fn whoever_does_not_take_the_answer_is_left_and_more_than_so_many_are_not_served() {
    let mut page = open(1500);
    let at = page.listening;
    let state = many(30_000, 1.0);
    let since = Instant::now();
    let readers: Vec<TcpStream> = (0..MOST_CLIENTS)
        .map(|_| {
            let mut stream = TcpStream::connect(at).expect("it listens");
            // 20 MB, which no buffer of the kernel has room for.
            write!(stream, "GET /state.json HTTP/1.1\r\nHost: {at}\r\n\r\n").expect("it takes it");
            stream
        })
        .collect();
    let answered = |page: &mut Page| {
        page.serve(|| State { status: state.status.clone(), sas: state.sas.clone(), ..State::default() });
    };
    std::thread::sleep(Duration::from_millis(100));
    // One more than may come at once: closed without a word.
    closed_within(TcpStream::connect(at).expect("it listens"), Instant::now(), 0, 1_400);
    answered(&mut page);
    // Later there is room again.
    let mut last = String::new();
    while last.is_empty() {
        assert!(since.elapsed() < Duration::from_secs(60), "nobody was left");
        answered(&mut page);
        let client = TcpStream::connect(at).and_then(|mut stream| {
            write!(stream, "GET / HTTP/1.1\r\nHost: {at}\r\n\r\n")?;
            stream.read_to_string(&mut last)
        });
        if client.is_err() {
            last.clear();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(last.starts_with("HTTP/1.1 200"), "{last}");
    drop(readers);
}

#[test]
fn a_page_of_ten_thousand_sas_gets_the_rows_that_it_asks_for() {
    let mut page = open(3000);
    let at = page.listening;
    let client = std::thread::spawn(move || {
        ["/state.json?find=branch-0999&by=bytes&down=1&rows=3", "/state.json?find=&rows=200"]
            .map(|path| get(at, path))
    });
    while !client.is_finished() {
        page.serve(|| many(10_000, 2.0));
        std::thread::sleep(Duration::from_millis(1));
    }
    let [few, all] = client.join().expect("it is answered").map(|response| {
        let (_, body) = response.split_once("\r\n\r\n").expect("a head");
        assert!(body.len() < 200 << 10, "{} bytes each second", body.len());
        serde_json::from_str::<serde_json::Value>(body).expect("JSON")
    });
    assert_eq!((&few["found"], few["sas"].as_array().map(Vec::len)), (&10.into(), Some(3)));
    assert_eq!(few["sas"][0]["name"], "branch-09999");
    assert_eq!(few["sas"][0]["suite"], "3des-cbc + hmac-sha1-96");
    assert_eq!((&all["found"], all["sas"].as_array().map(Vec::len)), (&10_000.into(), Some(200)));
}
