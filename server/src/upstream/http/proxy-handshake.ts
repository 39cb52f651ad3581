/** A proxy rejected the tunnel; the message is for the operator who has set it. */
export class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused'
}

/** The exchange with a proxy before its tunnel is open. */
export interface ProxyHandshake {
  /** Sent first. */
  readonly opening: string | Uint8Array
  /**
   * Reads bytes of the proxy. Returns what to send next, `open` once the tunnel is open, undefined while more bytes are
   * to come. Upstreams speak second: bytes after the proxy's last answer are not theirs. Throws `ProxyRefused`.
   */
  read: (bytes: Buffer) => Uint8Array | 'open' | undefined
}
