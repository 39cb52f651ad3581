import type { UsageDrainPool, RunningDrain } from './usage-drain-pool'
import type { DetachedStream } from './request'
import type { Provider } from '../providers/provider'
import type { Deadline } from '../upstream/deadline'
import type { UpstreamStream } from '../upstream/stream'
import { ClientDisconnected } from '../wire/chunk-stream'

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
  #isDetached = false
  #stream: UpstreamStream | undefined

  /** Watches over the opening; `onOpened` must be called when that is over. */
  constructor(options: Options) {
    this.#options = options
    const { signal } = options
    // Nothing was sent yet that could be billed.
    if (signal.aborted) options.deadline.cancel(new ClientDisconnected())
    else signal.addEventListener('abort', this.#detach, { once: true })
  }

  /** Set as soon as the attempt continues without its client. */
  get drain(): RunningDrain | undefined {
    return this.#drain
  }

  readonly #detach = (): void => {
    if (this.#isDetached) return
    this.#isDetached = true
    const { policy, drains, deadline, accountId } = this.#options
    if (policy === 'bills_all') this.#drain = drains.begin(deadline, accountId)
    if (!this.#drain) deadline.cancel(new ClientDisconnected())
  }

  /** From here on the stream's owner reports that its client has disconnected. */
  onOpened(stream: UpstreamStream): void {
    this.#stream = stream
    this.#unwatch()
  }

  /**
   * The time is up. True where the client gets the error while the answer is drained: then the stream's owner detaches
   * from the stream.
   */
  detachForTimeout(reason: Error): boolean {
    const { policy, drains, deadline, accountId } = this.#options
    if (this.#isDetached || !this.#stream || policy !== 'bills_all') return false
    this.#drain = drains.begin(deadline, accountId)
    if (!this.#drain) return false
    this.#isDetached = true
    this.#stream.endReading(reason)
    return true
  }

  #unwatch(): void {
    this.#options.signal.removeEventListener('abort', this.#detach)
  }

  /** The client of an opened stream has disconnected. */
  detach(stream: UpstreamStream): DetachedStream {
    const isFree = this.#options.policy === 'free' && !stream.isEnded
    if (!stream.isEnded) this.#detach()
    const rest = this.#drain && stream.drain()
    if (!rest) stream.cancel(new ClientDisconnected())
    return { rest, isFree, [Symbol.dispose]: () => this[Symbol.dispose]() }
  }

  [Symbol.dispose](): void {
    this.#unwatch()
    this.#drain?.[Symbol.dispose]()
  }
}
