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

const neverConnected = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  // A rule of the system forbids it: see SECURITY.md.
  'EACCES',
  'EPERM',
  'ETIMEDOUT',
  'EPROTO',
  'FailedToOpenSocket',
])

/** Codes of a certificate that was refused: a private authority has one without `CERT`. */
const refusedCertificate = /CERT|TLS|UNABLE_TO_VERIFY|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH/

function codeOf(thrown: unknown): string {
  const code = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'code') : ''
  return typeof code === 'string' ? code : ''
}

/** A failure of a socket as `ConnectionFailed`; anything else as it is. */
export function toConnectionFailed(thrown: unknown): unknown {
  const code = codeOf(thrown)
  if (code === '') return thrown
  const isRefusal = neverConnected.has(code) || refusedCertificate.test(code)
  return new ConnectionFailed(!isRefusal, thrown)
}
