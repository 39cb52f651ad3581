import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure, type ConnectionOptions } from 'node:tls'
import { ConnectionFailed } from './connection-failed'

/** Bytes for a server that answers none. */
export interface StreamedBytes {
  /** A name or an address, without the brackets of an IPv6 address. */
  host: string
  port: number
  isSecure: boolean
  bytes: Uint8Array
  signal: AbortSignal
}

interface Dialled extends StreamedBytes {
  /** The address to connect to, if `host` must not be looked up again. */
  address?: string
  ca?: string | undefined
  connectMs: number
}

function dial({ host, port, isSecure, address = host, ca }: Dialled): Socket {
  const target = { host: address, port, allowHalfOpen: true }
  if (!isSecure) return connectPlain(target)
  const options: ConnectionOptions & typeof target = {
    ...target,
    rejectUnauthorized: true,
    // The certificate must have this name, or the address.
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
  }
  return connectSecure(options)
}

/**
 * Sends bytes over a connection of their own, and resolves once the server has closed it: a server reads its end after
 * all that came before, so that nothing is still under way then. What has only been written may be lost. Rejects with
 * `ConnectionFailed`, or the reason of the signal.
 */
export async function sendBytes(dialled: Dialled): Promise<void> {
  const { isSecure, bytes, signal, connectMs } = dialled
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = dial(dialled)
  const state = { isConnected: false, isWritten: false }
  const fail = (cause: unknown) => reject(new ConnectionFailed(state.isConnected, cause))
  const timer = setTimeout(() => fail(new Error('connecting took too long')), connectMs)
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer)
    if (isSecure && !('authorized' in socket && socket.authorized)) {
      return fail(new Error('the certificate was refused'))
    }
    state.isConnected = true
    socket.end(bytes)
  })
  socket.once('finish', () => (state.isWritten = true))
  socket.once('end', () => (state.isWritten ? resolve() : fail(new Error('closed too early'))))
  socket.on('error', fail)
  socket.once('close', () => fail(new Error('the connection was closed')))
  // Else its end is never read.
  socket.resume()
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}
