/**
 * An upstream was not reached, or its connection was lost. `connected` false: not a byte of the request can have been
 * read, so that a failover is safe.
 */
export class ConnectionFailed extends Error {
  override readonly name: string = 'ConnectionFailed'
  readonly connected: boolean

  constructor(connected: boolean, cause: unknown) {
    super(connected ? 'the connection was lost' : 'no connection was made', { cause })
    this.connected = connected
  }
}
