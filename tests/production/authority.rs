//! An authority that signs certificates of nodes, good ones and bad ones; and strangers that show them.

use crate::rig::guard;
use delay::net::cluster::Tls;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::{fs, net::SocketAddr, path::Path, sync::Arc};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{
    TlsAcceptor, TlsConnector, client,
    rustls::{
        ClientConfig, RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

/// An authority, and where it puts what it signs.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

pub(crate) fn names(names: &[&str]) -> CertificateParams {
    CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).expect("the names are good")
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = names(&[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("keys can be made");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("it can be signed");
        let dir = tempfile::tempdir().expect("there is a place for temporary files");
        fs::write(dir.path().join("authority.crt"), issuer.pem()).expect("it can be written");
        Self { issuer, dir }
    }

    /// With certificates for the three nodes.
    pub(crate) fn of_all() -> Self {
        let authority = Self::new();
        for node in ["alpha", "beta", "gamma"] {
            authority.signs(node, &names(&[node]));
        }
        authority
    }

    /// Puts a certificate and its key into files of this name.
    pub(crate) fn signs(&self, file: &str, params: &CertificateParams) {
        let key = KeyPair::generate().expect("keys can be made");
        let certificate = params.signed_by(&key, &self.issuer).expect("it can be signed");
        fs::write(self.path().join(format!("{file}.crt")), certificate.pem()).expect("it can be written");
        fs::write(self.path().join(format!("{file}.key")), key.serialize_pem()).expect("it can be written");
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn tls(&self) -> Tls {
        let at = |file: &str| self.path().join(file);
        Tls { authority: at("authority.crt"), certificate: at("{node}.crt"), key: at("{node}.key") }
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("it is an authority");
        roots
    }

    /// For somebody who is no node, with the certificate of a file.
    pub(crate) fn shown(&self, file: &str) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let at = |kind: &str| self.path().join(format!("{file}.{kind}"));
        let certificate = CertificateDer::from_pem_file(at("crt")).expect("it is there");
        (vec![certificate], PrivateKeyDer::from_pem_file(at("key")).expect("it is there"))
    }

    /// Calls a node with the certificate of a file, as far as a handshake tells the caller.
    pub(crate) async fn calls(
        &self,
        node: &'static str,
        address: SocketAddr,
        file: Option<&str>,
    ) -> client::TlsStream<TcpStream> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("TLS 1.3").with_root_certificates(self.roots());
        let config = match file.map(|file| self.shown(file)) {
            Some((certificate, key)) => config.with_client_auth_cert(certificate, key).expect("they belong together"),
            None => config.with_no_client_auth(),
        };
        let stream = TcpStream::connect(address).await.expect("it listens");
        let name = ServerName::try_from(node).expect("a name");
        guard(TlsConnector::from(Arc::new(config)).connect(name, stream)).await.expect("it is that node")
    }

    /// Whoever calls there is shown the certificate of a file.
    pub(crate) fn impersonates(&self, listener: TcpListener, file: &str) {
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let (certificate, key) = self.shown(file);
        let config = config.expect("TLS 1.3").with_no_client_auth().with_single_cert(certificate, key);
        let acceptor = TlsAcceptor::from(Arc::new(config.expect("they belong together")));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = acceptor.accept(stream).await;
            }
        });
    }
}
