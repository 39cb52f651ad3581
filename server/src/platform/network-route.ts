/** The way to the upstream of one connection, apart from its address. Made once, when the connection is read. */
export interface NetworkRoute {
  /** A digest of all that follows, secrets included: only requests of the same one share a socket. */
  digest: string
  /** Certificates of the TLS connection to the upstream; all PEM. */
  tls: {
    /** Certificate authorities instead of the default ones. */
    ca?: string
    /** The client certificate with its chain, and its private key. */
    cert?: string
    key?: string
  }
}
