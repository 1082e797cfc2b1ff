fn main() {
    for a in ace_engine::algorithm::ALGORITHMS {
        if let ace_engine::Kind::Cipher { keys, .. } = a.kind {
            for k in keys {
                if [8, 16, 24, 32].contains(k) {
                    let s = ace_engine::measure::cipher_speed(a, *k, std::time::Duration::from_millis(300))
                        .unwrap();
                    println!(
                        "{:<9} {:>3} cbc {:>8.0} Mb/s ecb {:>8.0} setup {:>7.2} us",
                        a.name,
                        k * 8,
                        s.feedback_mbps,
                        s.parallel_mbps,
                        s.key_setup.as_secs_f64() * 1e6
                    );
                }
            }
        }
    }
}
