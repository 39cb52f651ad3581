import type { UsageDrainPool, RunningDrain } from './usage-drain-pool'
import type { Leave } from './request'
import type { Provider } from '../providers/provider'
import type { Deadline } from '../upstream/deadline'
import type { UpstreamStream } from '../upstream/stream'
import { ClientGone } from '../wire/chunk-stream'

interface Options {
  /** Aborts when the client has disconnected. */
  signal: AbortSignal
  deadline: Deadline
  policy: Provider['abort']
  drains: UsageDrainPool
  /** The account whose request it is. */
  accountId: string
}

/**
 * Handles a client's disconnect by how the provider bills an aborted attempt: the attempt ends at once, or is drained
 * for its usage.
 */
export class ClientDisconnect implements Disposable {
  readonly #options: Options
  #drain: RunningDrain | undefined
  #isLeft = false
  #stream: UpstreamStream | undefined

  /** Watches over the opening; `opened` must be called when that is over. */
  constructor(options: Options) {
    this.#options = options
    const { signal } = options
    // Nothing was sent yet that could be billed.
    if (signal.aborted) options.deadline.cancel(new ClientGone())
    else signal.addEventListener('abort', this.#leave, { once: true })
  }

  /** Set as soon as the attempt continues without its client. */
  get drain(): RunningDrain | undefined {
    return this.#drain
  }

  readonly #leave = (): void => {
    if (this.#isLeft) return
    this.#isLeft = true
    const { policy, drains, deadline, accountId } = this.#options
    if (policy === 'bills_all') this.#drain = drains.begin(deadline, accountId)
    if (!this.#drain) deadline.cancel(new ClientGone())
  }

  /** From here on the stream's owner reports that its client has disconnected. */
  opened(stream: UpstreamStream): void {
    this.#stream = stream
    this.#unwatch()
  }

  /**
   * The time is up. True where the client gets the error while the answer is drained: then the stream's owner leaves
   * the stream.
   */
  passed(reason: Error): boolean {
    const { policy, drains, deadline, accountId } = this.#options
    if (this.#isLeft || !this.#stream || policy !== 'bills_all') return false
    this.#drain = drains.begin(deadline, accountId)
    if (!this.#drain) return false
    this.#isLeft = true
    this.#stream.part(reason)
    return true
  }

  #unwatch(): void {
    this.#options.signal.removeEventListener('abort', this.#leave)
  }

  /** The client of an opened stream has disconnected. */
  leave(stream: UpstreamStream): Leave {
    const isFree = this.#options.policy === 'free' && !stream.ended
    if (!stream.ended) this.#leave()
    const rest = this.#drain && stream.drain()
    if (!rest) stream.cancel(new ClientGone())
    return { rest, isFree, [Symbol.dispose]: () => this[Symbol.dispose]() }
  }

  [Symbol.dispose](): void {
    this.#unwatch()
    this.#drain?.[Symbol.dispose]()
  }
}
