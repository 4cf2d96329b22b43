"""Certificates that tests make: signed by their own key, for localhost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey


def write_pair(
    certificate: Path, key_file: Path, key: Key | None = None, *, valid_for: timedelta = timedelta(days=90)
) -> int:
    """Write a certificate and its key, and return its serial number. valid_for: from now on; negative if it expired."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    serial = x509.random_serial_number()
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), serial, now - timedelta(days=100), now + valid_for)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    write_key(key_file, key)
    return serial


def write_key(file: Path, key: Key, *, password: bytes | None = None) -> None:
    form = serialization.PrivateFormat
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            form.PKCS8 if password or isinstance(key, ed25519.Ed25519PrivateKey) else form.TraditionalOpenSSL,
            serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption(),
        )
    )
