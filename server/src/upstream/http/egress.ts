import type { Answer } from './answer'
import { sendBytes, type StreamedBytes } from './byte-stream'
import { ConnectionFailed } from './connection-failed'
import type { Clock } from '../../platform/clock'
import type { NetworkRoute } from '../../platform/network-route'
import { Transport, type DialOptions, type Request } from './transport'

/** One request to an upstream. */
export interface UpstreamCall extends Request {
  /** The way of its connection; null for the usual one. */
  network?: NetworkRoute | null | undefined
  /** The account that owns the connection, or null for the operator's own. */
  owner: string | null
}

/** A request over a connection that is not the operator's. */
export interface OwnedCall extends Request {
  owner: string
  network?: NetworkRoute | null | undefined
}

/** The way out for addresses that customers set. */
export interface GuardedTransport {
  send: (call: OwnedCall) => Promise<Answer>
  sendStream?: (stream: StreamedBytes & { owner: string }) => Promise<void>
}

/** Bytes to a server, and the account or organization that set its address; null for the operator. */
interface OwnedStream extends StreamedBytes {
  owner: string | null
}

interface EgressTransports {
  /** Without it no request of an account's own connection is sent. */
  guarded?: GuardedTransport
}

type Timers = Pick<DialOptions, 'connectMs'> & { clock?: Clock }

/**
 * The only way out to an upstream. The operator's connections may lead anywhere; all others take the guarded way. An
 * attempt to connect to a host ends after `connectMs`.
 */
export class Egress {
  readonly #timers: Readonly<Timers>
  readonly #guarded: GuardedTransport | undefined
  readonly #transport: Transport

  /** `connectMs` is read each time, as the setting may change. */
  constructor(timers: Readonly<Timers>, { guarded }: EgressTransports = {}) {
    this.#timers = timers
    this.#transport = new Transport({ clock: timers.clock })
    this.#guarded = guarded
  }

  /** Sends a request. Rejects with `ConnectionFailed`, or the reason of the signal. */
  send(call: UpstreamCall): Promise<Answer> {
    const { owner, network } = call
    if (owner === null) {
      const options = network ? { ...this.#timers, network } : this.#timers
      return this.#transport.send(call, options)
    }
    if (this.#guarded) return this.#guarded.send({ ...call, owner })
    return Promise.reject(new ConnectionFailed(false, new Error('there is no guarded way out')))
  }

  /** Sends bytes to a server that answers none. Rejects as `sendBytes` does. */
  sendStream({ owner, ...stream }: OwnedStream): Promise<void> {
    if (owner === null) return sendBytes({ ...stream, connectMs: this.#timers.connectMs })
    if (this.#guarded?.sendStream) return this.#guarded.sendStream({ ...stream, owner })
    return Promise.reject(new ConnectionFailed(false, new Error('there is no guarded way out')))
  }
}
