//! TLS between nodes: who has not proven to be a node is not taken for it, and nothing goes out unencrypted that should not.

use crate::{
    authority::{Authority, names},
    events::Events,
    rig::{Calm, Dice, Stranger, Text, VERSION, at, framed, guard, hello, limits, listener},
};
use delay::net::{
    Delivery, Network,
    cluster::{Cluster, ClusterError, Limits, Tls},
    transport::Tcp,
};
use rcgen::{ExtendedKeyUsagePurpose, date_time_ymd};
use std::{fs, net::SocketAddr, process::Command, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

fn plain(limits: Limits, addresses: [SocketAddr; 3]) -> Cluster {
    crate::rig::cluster(limits, addresses)
}

fn secured(authority: &Authority, limits: Limits, addresses: [SocketAddr; 3]) -> Cluster {
    plain(limits, addresses).tls(authority.tls()).expect("the names are good")
}

fn host(cluster: &Cluster, node: &str, listener: TcpListener) -> Result<Text, ClusterError> {
    cluster.host(node).expect("the node is there").network_over(Tcp::from(listener), Delivery::PerSender)
}

/// What keeps alpha from starting with these files.
async fn problem(tls: Tls) -> String {
    let (alpha, address) = listener().await;
    let cluster = Cluster::new(limits()).and_then(|cluster| cluster.node("alpha", address.to_string(), ["a"]));
    let cluster = cluster.and_then(|cluster| cluster.tls(tls)).expect("it is a cluster");
    host(&cluster, "alpha", alpha).expect_err("something is wrong").to_string()
}

#[tokio::test]
async fn nodes_with_certificates_reach_each_other() {
    let authority = Authority::of_all();
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = secured(&authority, Limits::default(), [alpha.1, beta.1, gamma.1]);
    drop(gamma.0);
    let alpha = host(&cluster, "alpha", alpha.0).expect("it starts");
    let beta = host(&cluster, "beta", beta.0).expect("it starts");
    let (mut a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    for n in 0..500 {
        a.send(alpha.address("b"), format!("{n} {}", "x".repeat(1_000))).await.expect("b is there");
    }
    for n in 0..500 {
        let got = guard(b.recv()).await;
        assert!(got.message.starts_with(&format!("{n} ")), "{n}");
        b.send(got.from, n.to_string()).await.expect("a is there");
    }
    for n in 0..500 {
        assert_eq!(guard(a.recv()).await.message, n.to_string());
    }
    // What was sent has arrived when shutting down ends.
    a.send(alpha.address("b"), "last".to_owned()).await.expect("b is there");
    alpha.shutdown(Duration::from_mins(1)).await.expect("all is written");
    assert_eq!(b.try_recv().expect("it has arrived").message, "last");
}

#[tokio::test]
async fn what_is_sent_is_encrypted() {
    let authority = Authority::of_all();
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    // Between alpha and beta somebody listens in.
    let (tapped, between) = listener().await;
    let cluster = secured(&authority, limits(), [alpha.1, between, gamma.1]);
    let (alpha, net) = (host(&cluster, "alpha", alpha.0), host(&cluster, "beta", beta.0));
    let (alpha, net) = (alpha.expect("it starts"), net.expect("it starts"));
    let tap = tokio::spawn(async move {
        let (mut from, _) = tapped.accept().await.expect("alpha calls");
        let mut to = TcpStream::connect(beta.1).await.expect("beta listens");
        let (mut heard, mut buffer) = (Vec::new(), [0; 4_096]);
        let (mut from_read, mut from_write) = from.split();
        let (mut to_read, mut to_write) = to.split();
        let back = tokio::io::copy(&mut to_read, &mut from_write);
        let there = async {
            while !heard.ends_with(b"end") {
                let n = from_read.read(&mut buffer).await.expect("alpha writes");
                heard.extend(&buffer[..n]);
                to_write.write_all(&buffer[..n]).await.expect("beta reads");
                if heard.len() > 50_000 {
                    break;
                }
            }
        };
        tokio::select! {
            _ = back => {}
            () = there => {}
        }
        heard
    });
    let (a, mut b) = (alpha.endpoint("a"), net.endpoint("b"));
    for _ in 0..20 {
        a.send(alpha.address("b"), "secret ".repeat(500)).await.expect("b is there");
        // What was heard so far was heard on its way.
        if tap.is_finished() {
            break;
        }
        guard(b.recv()).await;
    }
    let heard = guard(tap).await.expect("it listens");
    assert!(heard.len() > 50_000, "{}", heard.len());
    for word in [b"secret".as_slice(), b"alpha", b"beta"] {
        assert!(!heard.windows(word.len()).any(|found| found == word), "{word:?} was heard");
    }
}

/// The certificate says who one is, whatever one says.
#[tokio::test]
async fn a_node_cannot_claim_to_be_another() {
    let (events, _guard) = Events::listen();
    let authority = Authority::of_all();
    let (beta, gamma) = (listener().await, listener().await);
    let cluster = secured(&authority, limits(), [at_nobody(), beta.1, gamma.1]);
    let beta_net = host(&cluster, "beta", beta.0).expect("it starts");
    let mut b = beta_net.endpoint("b");
    let mut gamma_calls = authority.calls("beta", beta.1, Some("gamma")).await;
    gamma_calls.write_all(&framed(&hello(VERSION, "alpha", "beta"))).await.expect("it listens");
    let mut answer = [0; 13];
    guard(gamma_calls.read_exact(&mut answer)).await.expect("there is an answer");
    assert_eq!(answer[4..], [b"delay\x02\x00\x01".as_slice(), &[2]].concat(), "it is refused as an impostor");
    let told = events.with("a connection was refused").await;
    assert!(told.contains("who says that it is \"alpha\" has not proven to be it"), "{told}");
    // As itself it is welcome.
    let mut gamma_calls = authority.calls("beta", beta.1, Some("gamma")).await;
    gamma_calls.write_all(&framed(&hello(VERSION, "gamma", "beta"))).await.expect("it listens");
    gamma_calls.write_all(&framed(&crate::rig::message("c", "b", "hello"))).await.expect("it listens");
    // What it says in the name of an endpoint elsewhere is dropped.
    gamma_calls.write_all(&framed(&crate::rig::message("a", "b", "forged"))).await.expect("it listens");
    gamma_calls.write_all(&framed(&crate::rig::message("c", "b", "again"))).await.expect("it listens");
    assert_eq!(guard(b.recv()).await.message, "hello");
    assert_eq!(guard(b.recv()).await.message, "again");
}

/// An address at which nobody listens.
fn at_nobody() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1))
}

#[tokio::test]
async fn who_has_no_certificate_or_a_bad_one_is_shown_out() {
    let (events, _guard) = Events::listen();
    let authority = Authority::of_all();
    let mut expired = names(&["alpha"]);
    expired.not_after = date_time_ymd(2020, 1, 1);
    authority.signs("expired", &expired);
    let other = Authority::of_all();
    // Trusted as who is called, and not itself.
    fs::copy(other.path().join("alpha.crt"), authority.path().join("foreign.crt")).expect("it can be copied");
    fs::copy(other.path().join("alpha.key"), authority.path().join("foreign.key")).expect("it can be copied");
    let (beta, gamma) = (listener().await, listener().await);
    let cluster = secured(&authority, limits(), [at_nobody(), beta.1, gamma.1]);
    let _beta = host(&cluster, "beta", beta.0).expect("it starts");
    let cases = [(None, "no certificate"), (Some("expired"), "expired"), (Some("foreign"), "of another authority")];
    for (file, words) in cases {
        let mut stream = authority.calls("beta", beta.1, file).await;
        // It may be shown out while it speaks.
        let _ = stream.write_all(&framed(&hello(VERSION, "alpha", "beta"))).await;
        guard(stream.read_u8()).await.expect_err("it is not answered");
        let told = events.with(words).await;
        assert!(told.contains("a connection was refused") && told.contains("no TLS: "), "{told}");
    }
}

#[tokio::test]
async fn a_node_makes_sure_whom_it_has_reached() {
    let (events, _guard) = Events::listen();
    let authority = Authority::of_all();
    let mut expired = names(&["beta"]);
    expired.not_after = date_time_ymd(2020, 1, 1);
    authority.signs("expired", &expired);
    let other = Authority::of_all();
    for (signer, file, words) in [
        (&authority, "gamma", "not valid for name"),
        (&authority, "expired", "expired"),
        (&other, "beta", "of another authority"),
    ] {
        let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
        let cluster = secured(&authority, limits(), [alpha.1, beta.1, gamma.1]);
        signer.impersonates(beta.0, file);
        let alpha = host(&cluster, "alpha", alpha.0).expect("it starts");
        let told = events.with(words).await;
        assert!(told.contains("not connected; tries again") && told.contains("node=beta"), "{told}");
        drop(alpha);
    }
}

#[tokio::test]
async fn plain_and_tls_tell_each_other_apart() {
    let (events, _guard) = Events::listen();
    let authority = Authority::of_all();
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let addresses = [alpha.1, beta.1, gamma.1];
    let alpha = host(&secured(&authority, limits(), addresses), "alpha", alpha.0).expect("it starts");
    let beta = host(&plain(limits(), addresses), "beta", beta.0).expect("it starts");
    let (mut a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    a.send(alpha.address("b"), "never unencrypted".to_owned()).await.expect("it is queued");
    b.send(beta.address("a"), "never taken".to_owned()).await.expect("it is queued");
    // Each of them calls, and is called.
    for words in [
        "ended=no TLS: received corrupt message of type InvalidContentType; does the other side speak TLS?",
        "ended=the other side speaks TLS, and this node does not: is the table `[tls]` in the cluster file of every node?",
        "node=beta",
        "node=alpha",
    ] {
        events.with(words).await;
    }
    assert_eq!(a.try_recv(), None);
    assert_eq!(b.try_recv(), None);
}

/// A handshake is part of an introduction: it has so much time, and only so many are going on.
#[tokio::test]
async fn a_handshake_that_trickles_holds_no_place() {
    let (events, _guard) = Events::listen();
    let authority = Authority::of_all();
    let limits = Limits { connect: Duration::from_secs(1), ..limits() };
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = secured(&authority, limits.clone(), [alpha.1, beta.1, gamma.1]);
    let net = host(&cluster, "beta", beta.0).expect("it starts");
    let mut b = net.endpoint("b");
    // The first bytes of a long handshake, one at a time.
    let mut trickle = Stranger::calls(beta.1).await;
    let origin = trickle.0.local_addr().expect("it is connected");
    let (mut read, mut write) = trickle.0.split();
    let drip = async {
        for byte in [22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3].into_iter().chain(std::iter::repeat(7)) {
            if write.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let mut rest = [0; 64];
    let shown_out = async { while let Ok(1..) = guard(read.read(&mut rest)).await {} };
    tokio::select! {
        () = drip => {}
        () = shown_out => {}
    }
    events.with(&format!("a connection was refused origin={origin} ended=no introduction within 1s")).await;
    // A flood of handshakes that go on no further: only the last few are kept.
    let mut flood = Vec::new();
    for _ in 0..100 {
        let mut silent = Stranger::calls(beta.1).await;
        silent.bytes(&[22, 3, 1, 2, 0]).await;
        flood.push(silent);
    }
    let alpha = host(&cluster, "alpha", alpha.0).expect("it starts");
    let a = alpha.endpoint("a");
    a.send(alpha.address("b"), "in".to_owned()).await.expect("it is queued");
    assert_eq!(guard(b.recv()).await.message, "in");
    flood.truncate(100 - limits.newcomers_max);
    for silent in flood {
        silent.ends().await;
    }
}

#[tokio::test]
async fn garbage_within_and_instead_of_tls_is_shown_out() {
    let _calm = Calm::watched();
    let authority = Authority::of_all();
    // Some of it may be the beginning of something long.
    let limits = Limits { connect: Duration::from_secs(1), ..limits() };
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = secured(&authority, limits, [alpha.1, beta.1, gamma.1]);
    let net = host(&cluster, "beta", beta.0).expect("it starts");
    let mut dice = Dice(3);
    for _ in 0..100 {
        let mut stranger = Stranger::calls(beta.1).await;
        let garbage = [&[22, 3, 1, 1, 0], &dice.bytes(256)[..]].concat();
        stranger.bytes(&garbage).await;
        stranger.ends().await;
        let mut node = authority.calls("beta", beta.1, Some("gamma")).await;
        node.write_all(&framed(&dice.bytes(100))).await.expect("it listens");
        let mut rest = [0; 256];
        while let Ok(1..) = guard(node.read(&mut rest)).await {}
    }
    let alpha = host(&cluster, "alpha", alpha.0).expect("it starts");
    let (a, mut b) = (alpha.endpoint("a"), net.endpoint("b"));
    a.send(alpha.address("b"), "well".to_owned()).await.expect("it is queued");
    assert_eq!(guard(b.recv()).await.message, "well");
}

#[tokio::test]
async fn files_that_cannot_be_used_are_told_at_the_start() {
    let authority = Authority::of_all();
    let at = |file: &str| authority.path().join(file);
    let put = |file: &str, text: &str| fs::write(at(file), text).expect("it can be written");
    let lost = Tls { certificate: at("lost.crt"), ..authority.tls() };
    let told = problem(lost).await;
    assert!(told.starts_with(&format!("{} cannot be read: ", at("lost.crt").display())), "{told}");
    let told = problem(Tls { authority: at("lost.crt"), ..authority.tls() }).await;
    assert!(told.starts_with(&format!("{} cannot be read: ", at("lost.crt").display())), "{told}");
    put("text.crt", "not a certificate");
    put("locked.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    for (wrong, what) in [
        (Tls { authority: at("text.crt"), ..authority.tls() }, "certificate"),
        (Tls { certificate: at("text.crt"), ..authority.tls() }, "certificate"),
        (Tls { key: at("text.crt"), ..authority.tls() }, "key"),
        (Tls { key: at("locked.key"), ..authority.tls() }, "key"),
        // The one in the place of the other.
        (Tls { key: at("alpha.crt"), ..authority.tls() }, "key"),
        (Tls { certificate: at("alpha.key"), ..authority.tls() }, "certificate"),
    ] {
        let told = problem(wrong).await;
        assert!(told.ends_with(&format!(" has no {what} in it: it must be PEM, and not encrypted")), "{told}");
    }
    put("broken.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let told = problem(Tls { authority: at("broken.crt"), ..authority.tls() }).await;
    assert!(told.contains("is no authority's certificate"), "{told}");
    put("cut.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n");
    let told = problem(Tls { certificate: at("cut.crt"), ..authority.tls() }).await;
    assert!(told.contains("is no PEM file"), "{told}");
    let told = problem(Tls { key: at("beta.key"), ..authority.tls() }).await;
    let pair =
        format!("{} is not the key of the certificate in {}", at("beta.key").display(), at("alpha.crt").display());
    assert!(told.starts_with(&pair), "{told}");
}

#[tokio::test]
async fn certificates_that_others_would_refuse_are_told_at_the_start() {
    let authority = Authority::of_all();
    let mut late = names(&["alpha"]);
    late.not_after = date_time_ymd(2020, 1, 1);
    let mut early = names(&["alpha"]);
    (early.not_before, early.not_after) = (date_time_ymd(2999, 1, 1), date_time_ymd(3000, 1, 1));
    let mut one_way = names(&["alpha"]);
    one_way.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    for (params, words) in [
        (late, "make a new one, if both clocks are right"),
        (early, "make a new one, if both clocks are right"),
        (one_way, "the certificate must be for serverAuth and clientAuth"),
        (names(&["beta"]), "a node's certificate has the node's name as a DNS name"),
    ] {
        authority.signs("wrong", &params);
        let at = |file: &str| authority.path().join(file);
        let told = problem(Tls { certificate: at("wrong.crt"), key: at("wrong.key"), ..authority.tls() }).await;
        let begin = format!("{} is no certificate for the node alpha: ", at("wrong.crt").display());
        assert!(told.starts_with(&begin) && told.contains(words), "{told}");
    }
    let other = Authority::new();
    let told = problem(Tls { authority: other.tls().authority, ..authority.tls() }).await;
    assert!(told.contains("it is of another authority than the one in `[tls]`"), "{told}");
}

#[tokio::test]
async fn the_cluster_file_says_where_the_files_are() {
    let authority = Authority::of_all();
    authority.signs("own", &names(&["n_2.sub-net"]));
    let (one, other) = (listener().await, listener().await);
    let text = format!(
        "[tls]\nauthority = 'authority.crt'\ncertificate = '{{node}}.crt'\nkey = '{}/{{node}}.key'\n\
         [node.alpha]\naddress = '{}'\nhosts = ['a']\n\
         [node.'n_2.sub-net']\naddress = '{}'\nhosts = ['b']\ncertificate = 'own.crt'\nkey = 'own.key'\n",
        authority.path().display(),
        one.1,
        other.1
    );
    let file = authority.path().join("cluster.toml");
    fs::write(&file, text).expect("it can be written");
    let cluster = Cluster::read(file).expect("it is good");
    drop((one.0, other.0));
    let alpha: Text = cluster.host("alpha").expect("there").network(Delivery::PerSender).await.expect("it starts");
    let net: Text = cluster.host("n_2.sub-net").expect("there").network(Delivery::PerSender).await.expect("it starts");
    let (a, mut b) = (alpha.endpoint("a"), net.endpoint("b"));
    a.send(alpha.address("b"), "hello".to_owned()).await.expect("it is queued");
    assert_eq!(guard(b.recv()).await.message, "hello");
}

/// The commands of the guide's page, where there is OpenSSL.
#[tokio::test]
async fn certificates_made_as_the_guide_says_are_good() {
    let guide = include_str!("../../docs/guide/10-deploy.md");
    let mut blocks = guide.split("```sh\n").filter_map(|rest| rest.split("```").next());
    let commands = blocks.find(|block| block.starts_with("openssl")).expect("the page has them");
    let has_openssl = Command::new("openssl").arg("version").output().is_ok();
    if !has_openssl {
        return eprintln!("there is no openssl here: nothing was tested");
    }
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let made = Command::new("sh").args(["-ec", commands]).current_dir(&dir).output().expect("there is a shell");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let at = |file: &str| dir.path().join(file);
    let tls = Tls { authority: at("authority.crt"), certificate: at("{node}.crt"), key: at("{node}.key") };
    let (alpha, beta) = (listener().await, listener().await);
    let cluster = Cluster::new(limits()).and_then(|cluster| cluster.node("alpha", alpha.1.to_string(), ["a"]));
    let cluster = cluster.and_then(|cluster| cluster.node("beta", beta.1.to_string(), ["b"]));
    let cluster = cluster.and_then(|cluster| cluster.tls(tls)).expect("the names are good");
    let alpha = host(&cluster, "alpha", alpha.0).expect("it starts");
    let beta = host(&cluster, "beta", beta.0).expect("it starts");
    let (a, mut b) = (alpha.endpoint("a"), beta.endpoint("b"));
    a.send(alpha.address("b"), "hello".to_owned()).await.expect("it is queued");
    assert_eq!(guard(b.recv()).await.message, "hello");
}

#[test]
fn what_is_wrong_with_the_table_is_told() {
    let wrong = |text: &str| text.parse::<Cluster>().expect_err("something is wrong").to_string();
    let node = "[node.alpha]\naddress = '127.0.0.1:7001'\nhosts = ['a']\n";
    let table = "[tls]\nauthority = 'a'\ncertificate = 'b'\nkey = 'c'\n";
    assert_eq!(
        wrong(&format!("{node}key = 'alpha.key'")),
        "the node alpha has a certificate or a key, and there is no table `[tls]`: add one, with `authority`, `certificate` and `key`"
    );
    let told = wrong(&format!("{node}[tls]\nauthority = 'a'\nkey = 'c'\n"));
    assert!(told.contains("missing field `certificate`"), "{told}");
    let told = wrong(&format!("{node}{table}keys = 'c'\n"));
    assert!(told.contains("unknown field `keys`"), "{told}");
    for name in ["Alpha", "1", "a.1", "10.0.0.1", "a b", "-a", "a-", "a..b", "ä", "_a", &"a".repeat(64)] {
        let text = format!("{table}[node.\"{name}\"]\naddress = '127.0.0.1:7001'\nhosts = ['a']\n");
        assert!(
            wrong(&text).starts_with(&format!("the node's name \"{name}\" cannot stand in a certificate: ")),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_node_that_starts_again_proves_who_it_is_again() {
    let authority = Authority::of_all();
    let (alpha, beta, gamma) = (listener().await, listener().await, listener().await);
    let cluster = secured(&authority, limits(), [alpha.1, beta.1, gamma.1]);
    drop(gamma.0);
    let alpha = host(&cluster, "alpha", alpha.0).expect("it starts");
    let a = alpha.endpoint("a");
    let mut listener = beta.0;
    for n in 0..3 {
        let net: Network<String> = host(&cluster, "beta", listener).expect("it starts");
        let mut b = net.endpoint("b");
        guard(async {
            loop {
                a.send(alpha.address("b"), n.to_string()).await.expect("it is queued or lost");
                let soon = tokio::time::timeout(Duration::from_millis(20), b.recv());
                if soon.await.is_ok_and(|got| got.message == n.to_string()) {
                    break;
                }
            }
        })
        .await;
        net.shutdown(Duration::from_mins(1)).await.expect("nothing was sent");
        drop((net, b));
        listener = at(beta.1).await;
    }
}
