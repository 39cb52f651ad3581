import type { BackgroundRuns } from './background'
import type { BackgroundRun } from './background-run'
import { backgroundReply } from './background-stream'
import type { ModelCall } from './model-call'
import type { RecordedReply, Reply, RequestHistory } from '../gateway/request'
import type { BackgroundStore } from '../stored-responses/background-store'
import type { StoredTurn } from '../stored-responses/response-turn'
import type { Pause } from '../wire/json-slices'
import type { JsonObject, ReadBody } from '../wire/json-body'
import { noUsage } from '../wire/usage'

/** Reads a request, and prepares one with `background` to be answered in the background. */
export class InBackground implements RequestHistory {
  readonly #turn: StoredTurn
  readonly #call: ModelCall
  readonly #runs: BackgroundRuns
  run: BackgroundRun | undefined

  constructor(turn: StoredTurn, call: ModelCall, runs: BackgroundRuns) {
    this.#turn = turn
    this.#call = call
    this.#runs = runs
  }

  unreadBytes(userId: string, body: JsonObject): number | Promise<number> {
    return this.#turn.unreadBytes(userId, body)
  }

  expand(userId: string, read: ReadBody, pause?: Pause): ReadBody | Promise<ReadBody> {
    return read.body['background'] === true
      ? this.#begin(userId, read, pause)
      : this.#turn.expand(userId, read, pause)
  }

  async #begin(userId: string, read: ReadBody, pause?: Pause): Promise<ReadBody> {
    const { requestId, repeatable } = this.#call
    const isRepeatable = repeatable !== undefined
    const turn = this.#turn
    const begun = await this.#runs.begin({ requestId, userId, turn, read, isRepeatable, pause })
    this.run = begun.run
    // Its caller may disconnect at once.
    this.#call.signal = begun.run.signal
    return begun.read
  }

  /** Returns the answer to the caller, while the response is made in the background. */
  started(reply: Reply | RecordedReply, store: BackgroundStore): Reply {
    const { run } = this
    if (!run || reply.kind !== 'stream') throw new Error('an answer in the background is a stream')
    this.#runs.start(run, reply)
    this.#call.repeatable?.onDispatched()
    if (run.storesEvents) return backgroundReply(store, { owned: run.owned, after: -1 })
    return { kind: 'full', body: run.queued, isEncoded: true, usage: noUsage, provider: '' }
  }

  /** Discards the run of a rejected request. Never rejects. */
  async discard(): Promise<void> {
    if (this.run) await this.#runs.discard(this.run)
  }
}
