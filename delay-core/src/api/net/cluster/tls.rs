//! TLS between nodes, over any transport: each side proves by a certificate of the cluster's authority which node it is.
//!
//! Invariants: neither side speaks to one who has not proven to be the node that is meant, or claimed; what cannot work is an error when the
//! node starts, not one of each connection; a handshake is part of an introduction, and bounded as one.

use super::{Cluster, ClusterError, Tls};
use crate::api::net::transport::{Caller, Identity, Transport};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio_rustls::{
    TlsAcceptor, TlsConnector, TlsStream,
    rustls::{
        CertificateError, ClientConfig, Error, RootCertStore, ServerConfig,
        client::{Resumption, WebPkiServerVerifier, danger::ServerCertVerifier, verify_server_name},
        crypto::{CryptoProvider, ring},
        pki_types::{
            CertificateDer, DnsName, PrivateKeyDer, ServerName, UnixTime,
            pem::{Error as PemError, PemObject},
        },
        server::{ParsedCertificate, VerifierBuilderError, WebPkiClientVerifier, danger::ClientCertVerifier},
        version::TLS13,
    },
};

/// A transport with TLS on top.
pub(super) struct Secured<T> {
    inner: T,
    connector: TlsConnector,
    acceptor: TlsAcceptor,
    /// The nodes of the cluster.
    nodes: Arc<[String]>,
}

impl<T> Secured<T> {
    /// Reads what the node's table `[tls]` names.
    pub(super) fn new(inner: T, cluster: &Cluster, table: &Tls, node: &str) -> Result<Self, ClusterError> {
        let files = Files::of(cluster, table, node);
        let at = |path: &Path| {
            let path = path.to_owned();
            move |problem: String| ClusterError::Tls { path, problem }
        };
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&files.authority)? {
            let refused = |error| format!("is no authority's certificate: {error}");
            roots.add(certificate).map_err(refused).map_err(at(&files.authority))?;
        }
        let roots = Arc::new(roots);
        let unusable = |error: VerifierBuilderError| at(&files.authority)(format!("cannot be used: {error}"));
        let servers = WebPkiServerVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        let servers = servers.build().map_err(unusable)?;
        let clients = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
        let clients = clients.build().map_err(unusable)?;
        let own = certificates(&files.certificate)?;
        check(&own, node, &*servers, &*clients).map_err(at(&files.certificate))?;
        let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unreadable(&files.key, "key", &error))?;

        let unfit = |error: Error| {
            let certificate = files.certificate.display();
            at(&files.key)(format!("is not the key of the certificate in {certificate}: {error}"))
        };
        let connector = client_config(&provider, &servers, own.clone(), key.clone_key()).map_err(unfit)?;
        let acceptor = server_config(&provider, clients, own, key).map_err(unfit)?;
        let nodes = cluster.nodes.keys().cloned().collect();
        Ok(Self { inner, connector: Arc::new(connector).into(), acceptor: Arc::new(acceptor).into(), nodes })
    }
}

/// What a node needs.
struct Files {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    /// Of a node of the cluster.
    fn of(cluster: &Cluster, table: &Tls, node: &str) -> Self {
        let own = &cluster.nodes[node];
        let named = |path: &Path| match path.to_str() {
            Some(text) => PathBuf::from(text.replace("{node}", node)),
            None => path.to_owned(),
        };
        let certificate = named(own.certificate.as_ref().unwrap_or(&table.certificate));
        let key = named(own.key.as_ref().unwrap_or(&table.key));
        let [authority, certificate, key] =
            [table.authority.clone(), certificate, key].map(|path| cluster.base.join(path));
        Self { authority, certificate, key }
    }
}

impl<T: Transport> Transport for Secured<T> {
    type Stream = TlsStream<T::Stream>;

    async fn connect(&self, node: &str, address: &str) -> io::Result<Self::Stream> {
        let stream = self.inner.connect(node, address).await?;
        let opened = self.connector.connect(server_name(node), stream).await;
        Ok(opened.map_err(|error| explained(&error))?.into())
    }

    async fn accept(&self) -> io::Result<Caller<Self::Stream>> {
        let Caller { origin, opening } = self.inner.accept().await?;
        let (acceptor, nodes) = (self.acceptor.clone(), Arc::clone(&self.nodes));
        Ok(Caller::after(origin, async move {
            let (stream, identity) = opening.await?;
            let stream = acceptor.accept(stream).await.map_err(|error| explained(&error))?;
            let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
            let shown = shown.and_then(|certificate| ParsedCertificate::try_from(certificate).ok());
            let is_for = |node: &String| {
                shown.as_ref().is_some_and(|shown| verify_server_name(shown, &server_name(node)).is_ok())
            };
            let proven = nodes.iter().filter(|node| identity.may_be(node) && is_for(node)).cloned().collect();
            Ok((stream.into(), Identity::Proven(proven)))
        }))
    }
}

/// Nodes stay connected: a handshake is rare, and each one looks at the certificates anew.
fn client_config(
    provider: &Arc<CryptoProvider>,
    servers: &Arc<WebPkiServerVerifier>,
    own: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ClientConfig, Error> {
    let config = ClientConfig::builder_with_provider(Arc::clone(provider)).with_protocol_versions(&[&TLS13])?;
    let mut config = config.with_webpki_verifier(Arc::clone(servers)).with_client_auth_cert(own, key)?;
    config.resumption = Resumption::disabled();
    // One certificate a node: no need to say in clear text who is meant.
    config.enable_sni = false;
    Ok(config)
}

fn server_config(
    provider: &Arc<CryptoProvider>,
    clients: Arc<dyn ClientCertVerifier>,
    own: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Error> {
    let config = ServerConfig::builder_with_provider(Arc::clone(provider)).with_protocol_versions(&[&TLS13])?;
    let mut config = config.with_client_cert_verifier(clients).with_single_cert(own, key)?;
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Whether others will take a certificate for this node's, when they call and when they are called.
fn check(
    own: &[CertificateDer<'_>],
    node: &str,
    servers: &dyn ServerCertVerifier,
    clients: &dyn ClientCertVerifier,
) -> Result<(), String> {
    let Some((first, others)) = own.split_first() else { bug!("a file without a certificate was read") };
    let now = UnixTime::now();
    let called = servers.verify_server_cert(first, others, &server_name(node), &[], now).map(drop);
    let calls = clients.verify_client_cert(first, others, now).map(drop);
    called.and(calls).map_err(|error| format!("is no certificate for the node {node}: {error}{}", advice(&error)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ClusterError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(unreadable(path, "certificate", &PemError::NoItemsFound)),
        Err(error) => Err(unreadable(path, "certificate", &error)),
    }
}

fn unreadable(path: &Path, what: &str, error: &PemError) -> ClusterError {
    let problem = match error {
        PemError::NoItemsFound => format!("has no {what} in it: it must be PEM, and not encrypted"),
        PemError::Io(error) => format!("cannot be read: {error}"),
        error => format!("is no PEM file: {error}"),
    };
    ClusterError::Tls { path: path.to_owned(), problem }
}

/// The name by which certificates know a node.
fn server_name(node: &str) -> ServerName<'static> {
    match DnsName::try_from(node.to_owned()) {
        Ok(name) => ServerName::DnsName(name),
        Err(_) => bug!("the node {node:?} passed the check of names"),
    }
}

/// A failed handshake, and what to do.
fn explained(error: &io::Error) -> io::Error {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let advice = match tls {
        Some(error) => advice(error),
        None if error.kind() == io::ErrorKind::UnexpectedEof => "; does the other side expect TLS, too?",
        None => "",
    };
    io::Error::new(error.kind(), format!("no TLS: {error}{advice}"))
}

fn advice(error: &Error) -> &'static str {
    match error {
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => {
            "; does the other side speak TLS? Is the cluster file the same on every node?"
        }
        Error::NoCertificatesPresented => "; the other side has no certificate: is it a node?",
        Error::InvalidCertificate(why) => match why {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => "; make a new one, if both clocks are right",
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "; it is of another authority than the one in `[tls]`"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "; a node's certificate has the node's name as a DNS name (subjectAltName)"
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                "; a node calls and is called: the certificate must be for serverAuth and clientAuth"
            }
            _ => "",
        },
        Error::AlertReceived(_) => "; the other side says why in its events",
        _ => "",
    }
}
