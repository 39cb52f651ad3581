import type { ScaleProfile } from './profile'
import type { Recall, SliceStore, SliceWrite } from '../../src/limits/slices/slice-store'
import { Availability } from '../../src/platform/availability'
import type { SimulatedSliceServer } from '../../testing/limits/simulated-slice-store'

/** The timeouts of the real stores. Milliseconds. */
const deadlineMs = { redis: 80, postgresql: 250 }

/** The calls to the store, by kind. */
export type SliceCallCounts = Record<'read' | 'write' | 'recall' | 'beat', number>

interface Options {
  kind: ScaleProfile['sliceStore']
  node: string
  counts: SliceCallCounts
  onBack: () => void
}

/** One node's connection to the simulated store of limits, with the real circuit breaker and the timeout of its kind. */
export class RegionalSliceStore implements SliceStore {
  readonly #server: SimulatedSliceServer
  readonly #options: Options
  readonly #availability: Availability

  constructor(server: SimulatedSliceServer, options: Options) {
    this.#server = server
    this.#options = options
    const { kind, onBack } = options
    this.#availability = new Availability({
      deadlineMs: deadlineMs[kind],
      probe: () => this.#send(() => server.read([])),
      onError: () => undefined,
      onBack,
    })
  }

  get kind(): SliceStore['kind'] {
    return this.#options.kind
  }

  get isAway(): boolean {
    return this.#availability.isAway
  }

  read(buckets: readonly string[]) {
    return this.#call('read', () => this.#server.read(buckets))
  }

  write(writes: readonly SliceWrite[]) {
    return this.#call('write', () => this.#server.write(writes))
  }

  beat(node: string, epoch: string | undefined) {
    return this.#call('beat', () => this.#server.beat(node, epoch))
  }

  async leave(node: string): Promise<void> {
    await this.#availability.run(() => this.#send(() => this.#server.leave(node)))
  }

  recall(recalls: readonly Recall[]) {
    return this.#call('recall', () => this.#server.recall(recalls))
  }

  #call<Answer>(kind: keyof SliceCallCounts, command: () => Answer): Promise<Answer> {
    return this.#availability.run(() => {
      this.#options.counts[kind] += 1
      return this.#send(command)
    })
  }

  #send<Answer>(command: () => Answer): Promise<Answer> {
    return this.#server.send(this.#options.node, command)
  }
}
