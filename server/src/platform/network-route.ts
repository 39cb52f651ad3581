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

/** Over `https` the proxy itself is reached by TLS. */
export type ProxyProtocol = 'http' | 'https' | 'socks5'

/** A proxy that opens a tunnel to the upstream: an HTTP proxy by CONNECT, or a SOCKS5 proxy. */
export interface ProxyRoute {
  protocol: ProxyProtocol
  /** Without the brackets of an IPv6 address. */
  hostname: string
  port: number
  credential?: ProxyCredential
  /** Certificate authorities of the proxy itself instead of the default ones; PEM. */
  ca?: string
}

export interface ProxyCredential {
  username: string
  password: string
}
