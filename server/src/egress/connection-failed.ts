/**
 * An upstream was not reached, or was lost. `connected` false: not a byte of the request can have
 * been read, so that another one may be tried.
 */
export class ConnectionFailed extends Error {
  override readonly name: string = 'ConnectionFailed'
  readonly connected: boolean

  constructor(connected: boolean, cause: unknown) {
    super(connected ? 'the connection was lost' : 'no connection was made', { cause })
    this.connected = connected
  }
}
