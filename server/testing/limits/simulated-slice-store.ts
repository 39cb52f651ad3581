import type { SliceDocument } from '../../src/limits/slices/slice-document'
import {
  type Heartbeat,
  type Recall,
  type SliceStore,
  type SliceWrite,
} from '../../src/limits/slices/slice-store'

/** How the network and the store behave. */
export interface SimulatedConditions {
  /** To or from a node, one way, in milliseconds. */
  delayMs: (node: string) => number
  /** Whether a message is lost. */
  isLost: () => boolean
  /** The time for which a node waits for an answer, in milliseconds; 50 by default. */
  timeoutMs?: number
  /** Runs something at a node, or at the store, after a time; by default with a timer, whose least time is 1 ms. */
  after?: (ms: number, run: () => void, node?: string) => void
}

interface Entry {
  version: number
  document: SliceDocument
}

const usualTimeoutMs = 50
const after = (ms: number, run: () => void) => void setTimeout(run, ms)
const failuresToAway = 5

/** A store of slices with a clock of its own, which can freeze, go down, and lose its data. */
export class SimulatedSliceServer {
  #entries = new Map<string, Entry>()
  #seenAtMs = new Map<string, number>()
  #epoch = { id: 'epoch-0', sinceMs: -Infinity, hasLostSlices: false }
  #epochs = 0
  readonly #conditions: Required<SimulatedConditions>
  readonly #subscribers = new Map<string, (recall: Recall) => void>()
  readonly #held: (() => void)[] = []
  isDown = false
  #isFrozen = false
  /** Messages to the store so far. */
  roundTrips = 0
  readonly cutOff = new Set<string>()

  constructor(conditions: SimulatedConditions) {
    this.#conditions = { timeoutMs: usualTimeoutMs, after, ...conditions }
  }

  get #nowMs(): number {
    return Math.floor(performance.now()) + 1e6
  }

  empty(): void {
    this.#entries = new Map()
    this.#seenAtMs = new Map()
    this.#epochs += 1
    this.#epoch = { id: `epoch-${this.#epochs}`, sinceMs: this.#nowMs, hasLostSlices: false }
  }

  freeze(): void {
    this.#isFrozen = true
  }

  thaw(): void {
    this.#isFrozen = false
    for (const run of this.#held.splice(0)) run()
  }

  subscribe(node: string, onRecall: (recall: Recall) => void): void {
    this.#subscribers.set(node, onRecall)
  }

  unsubscribe(node: string): void {
    this.#subscribers.delete(node)
  }

  /** All documents, by bucket. */
  *documents(): Iterable<[bucket: string, document: SliceDocument]> {
    for (const [bucket, { document }] of this.#entries) yield [bucket, document]
  }

  /** Sends a command over the network and back. Rejects after the timeout. */
  send<Answer>(node: string, command: () => Answer): Promise<Answer> {
    this.roundTrips += 1
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const { delayMs, isLost, timeoutMs, after } = this.#conditions
    let isAnswered = false
    // An error has a stack, which costs more than the rest of a round trip.
    const fail = (text: string) => () => {
      if (!isAnswered) reject(new Error(text))
    }
    if (this.isDown) after(1, fail('connection refused'), node)
    else after(timeoutMs, fail('no answer in time'), node)
    const answerWith = (answer: Answer) => {
      isAnswered = true
      resolve(answer)
    }
    const run = () => {
      if (this.isDown || isLost() || this.cutOff.has(node)) return
      const answer = command()
      if (!isLost()) after(delayMs(node), () => answerWith(answer), node)
    }
    if (!this.isDown && !isLost() && !this.cutOff.has(node)) {
      after(delayMs(node), () => (this.#isFrozen ? this.#held.push(run) : run()))
    }
    return promise
  }

  read(buckets: readonly string[]) {
    const slices = buckets.map((one) => this.#entries.get(one) ?? { version: 0, document: {} })
    const { id: epoch, sinceMs, hasLostSlices } = this.#epoch
    return { nowMs: this.#nowMs, epoch, sinceMs, hasLostSlices, slices }
  }

  write(writes: readonly SliceWrite[]): boolean[] {
    return writes.map(({ bucket, version, document }) => {
      if ((this.#entries.get(bucket)?.version ?? 0) !== version) return false
      this.#entries.set(bucket, { version: version + 1, document })
      return true
    })
  }

  beat(node: string, known: string | undefined): Heartbeat {
    if (known !== undefined && known !== this.#epoch.id) this.#epoch.hasLostSlices = true
    this.#seenAtMs.set(node, this.#nowMs)
    return { ...this.read([]), seenAtMs: new Map(this.#seenAtMs) }
  }

  leave(node: string): void {
    this.#seenAtMs.delete(node)
  }

  recall(recalls: readonly Recall[]): void {
    const { delayMs, isLost, after } = this.#conditions
    for (const [node, onRecall] of this.#subscribers) {
      if (this.cutOff.has(node)) continue
      for (const recall of recalls)
        if (!isLost()) after(delayMs(node), () => onRecall(recall), node)
    }
  }
}

/** One node's connection to the simulated store, with a circuit breaker. */
export class SimulatedSliceStore implements SliceStore {
  readonly kind = 'redis'
  readonly #server: SimulatedSliceServer
  readonly #node: string
  #failures = 0
  isAway = false

  constructor(server: SimulatedSliceServer, node: string) {
    this.#server = server
    this.#node = node
  }

  async #send<Answer>(command: () => Answer): Promise<Answer> {
    try {
      const answer = await this.#server.send(this.#node, command)
      this.#failures = 0
      this.isAway = false
      return answer
    } catch (error) {
      this.#failures += 1
      if (this.#failures >= failuresToAway) this.isAway = true
      throw error
    }
  }

  read(buckets: readonly string[]) {
    return this.#send(() => this.#server.read(buckets))
  }

  write(writes: readonly SliceWrite[]) {
    return this.#send(() => this.#server.write(writes))
  }

  beat(node: string, epoch: string | undefined) {
    this.#server.roundTrips -= 1
    return this.#send(() => this.#server.beat(node, epoch))
  }

  leave(node: string) {
    return this.#send(() => this.#server.leave(node))
  }

  recall(recalls: readonly Recall[]) {
    return this.#send(() => this.#server.recall(recalls))
  }
}
