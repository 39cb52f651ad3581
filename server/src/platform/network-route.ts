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
  /** The proxy that connects to the upstream in Tollgate's place. */
  proxy?: ProxyRoute
}

/** An HTTP proxy that is asked for a tunnel by CONNECT. */
export interface ProxyRoute {
  isSecure: boolean
  /** Without the brackets of an IPv6 address. */
  hostname: string
  port: number
  /** The value of `Proxy-Authorization`. */
  authorization?: string
  /** Certificate authorities of the proxy itself instead of the default ones; PEM. */
  ca?: string
}
