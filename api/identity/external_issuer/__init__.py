"""Sign-in through an issuer outside the service (OpenID Connect)."""
