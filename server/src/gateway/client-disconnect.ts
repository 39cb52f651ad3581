import type { UsageDrainPool, RunningDrain } from './usage-drain-pool'
import type { Leave } from './request'
import type { Provider } from '../providers/provider'
import type { Deadline } from '../routing/deadline'
import type { UpstreamStream } from '../routing/upstream-stream'
import { ClientGone } from '../wire/chunk-stream'

interface Options {
  /** Aborts when the caller has gone. */
  signal: AbortSignal
  deadline: Deadline
  policy: Provider['abort']
  drains: UsageDrainPool
  /** The account whose request it is. */
  accountId: string
}

/**
 * What becomes of an attempt when its caller leaves, by how its provider bills what is aborted: it is
 * ended at once, or goes on to its usage without him.
 */
export class ClientDisconnect implements Disposable {
  readonly #options: Options
  #drain: RunningDrain | undefined
  #isLeft = false
  #stream: UpstreamStream | undefined

  /** Watches over the opening; `opened` must be told when that is over. */
  constructor(options: Options) {
    this.#options = options
    const { signal } = options
    // Nothing was sent yet that could be billed.
    if (signal.aborted) options.deadline.cancel(new ClientGone())
    else signal.addEventListener('abort', this.#leave, { once: true })
  }

  /** Set as soon as the attempt goes on without its caller. */
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

  /** From here on whoever has the stream says when its caller leaves. */
  opened(stream: UpstreamStream): void {
    this.#stream = stream
    this.#unwatch()
  }

  /**
   * Time is up. True where the caller is told so while the answer goes on without him: then whoever
   * has the stream leaves it.
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

  /** The caller of a stream that was opened has gone. */
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
