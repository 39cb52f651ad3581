import { BackgroundReaders } from './background-readers'
import { BackgroundRun } from './background-run'
import { toResponse } from '../protocols/responses/response'
import { ResponsesRequest } from '../protocols/responses/request'
import { ApiError, invalidRequest } from '../errors'
import type { StreamReply } from '../gateway/request'
import type { BackgroundStore, Owned, Standing } from '../stored-responses/background-store'
import type { StoredTurn } from '../stored-responses/response-turn'
import type { Pause } from '../wire/json-slices'
import { check, type ReadBody } from '../wire/json-body'
import { Periodic } from '../platform/periodic'

/** Well within the lease. */
const renewMs = 2000
const sweepMs = 10_000

/** The most background responses on this node at once, and the most bytes of their requests. */
const maxRuns = 256
const maxRequestBytes = 128 * 1024 * 1024

interface Ports {
  store: BackgroundStore
  onError: (error: unknown) => void
}

interface Beginning {
  requestId: string
  userId: string
  turn: StoredTurn
  read: ReadBody
  /** A repeat of the request replays its answer. */
  isRepeatable: boolean
  /** Called between slices of parsing the history. */
  pause?: Pause | undefined
}

/** Runs the background responses of this node, and ends those of dead nodes. */
export class BackgroundRuns implements AsyncDisposable {
  readonly readers = new BackgroundReaders()
  readonly #ports: Ports
  readonly #runs = new Map<string, { run: BackgroundRun; bytes: number }>()
  readonly #upkeep: readonly Periodic[]
  #bytes = 0
  #onIdle: (() => void)[] = []

  constructor(ports: Ports) {
    this.#ports = ports
    const { store, onError } = ports
    this.#upkeep = [
      new Periodic({ intervalMs: renewMs, run: () => this.#renew(), onError }),
      new Periodic({ intervalMs: sweepMs, run: () => store.sweep(), onError }),
    ]
  }

  /**
   * Stores that a request is answered in the background. Resolves with the request to run. Rejects with
   * `invalid_request`, `rate_limit_exceeded` and `gateway_unavailable`.
   */
  async begin(beginning: Beginning): Promise<{ run: BackgroundRun; read: ReadBody }> {
    const { requestId, userId, turn, read, isRepeatable, pause } = beginning
    const request = check(ResponsesRequest, read.body)
    const storesEvents = request.stream === true
    if (storesEvents && isRepeatable) throw notBoth()
    const expandedBody = await turn.expandInBackground(userId, read, pause)
    if (this.#runs.size >= maxRuns || this.#bytes + expandedBody.bytes > maxRequestBytes)
      throw full()
    const { id } = turn
    const head = { id, created: Math.floor(Date.now() / 1000), model: request.model }
    const queued = turn.addStorageFields(
      toResponse(request, head, { status: 'queued', output: [] }),
    )
    const run = new BackgroundRun(
      { owned: { id, userId }, requestId, turn, queued, storesEvents },
      this.#ports,
    )
    this.#add(run, expandedBody.bytes)
    try {
      await this.#ports.store.begin({ id, userId, response: queued, ...turn.request }, storesEvents)
    } catch (thrown) {
      this.#remove(run)
      throw thrown
    }
    run.isBegun = true
    return { run, read: expandedBody }
  }

  /** Discards a run whose request was rejected after all. Never rejects. */
  async discard(run: BackgroundRun): Promise<void> {
    this.#remove(run)
    await this.#ports.store.discard(run.owned).catch(this.#ports.onError)
  }

  /** Starts making the response. */
  start(run: BackgroundRun, reply: StreamReply): void {
    const { onError } = this.#ports
    void run
      .run(reply)
      .catch(onError)
      .finally(() => this.#remove(run))
  }

  /** Cancels a response and returns its state; undefined where the account has none of this id. */
  async cancel(owned: Owned, pause?: Pause): Promise<Standing | undefined> {
    const standing = await this.#ports.store.cancel(owned, pause)
    if (standing) this.#abandon(owned)
    return standing
  }

  /** Abandons the run of a deleted response. */
  deleted(owned: Owned): void {
    this.#abandon(owned)
  }

  #abandon({ id, userId }: Owned): void {
    const running = this.#runs.get(id)
    if (running?.run.owned.userId === userId) running.run.abandon()
  }

  #add(run: BackgroundRun, bytes: number): void {
    this.#runs.set(run.owned.id, { run, bytes })
    this.#bytes += bytes
  }

  #remove(run: BackgroundRun): void {
    this.#bytes -= this.#runs.get(run.owned.id)?.bytes ?? 0
    this.#runs.delete(run.owned.id)
    if (this.#runs.size > 0) return
    for (const wake of this.#onIdle) wake()
    this.#onIdle = []
  }

  async #renew(): Promise<void> {
    const runs = [...this.#runs.values()].map(({ run }) => run)
    if (runs.length === 0) return
    const renewedIds = await this.#ports.store.renew(runs.map(({ owned }) => owned))
    for (const run of runs) {
      if (!run.isBegun || renewedIds.has(run.owned.id)) continue
      run.abandon()
      // That of a suspended account is still there; any other has ended, or is gone.
      this.#ports.store.cancel(run.owned).catch(this.#ports.onError)
    }
  }

  /** Resolves when no run is active. */
  idle(): Promise<void> {
    if (this.#runs.size === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle.push(resolve)
    return promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const periodic of this.#upkeep) periodic.stop()
    await Promise.race([this.idle(), Bun.sleep(renewMs)])
  }
}

const notBoth = () =>
  invalidRequest(
    'stream',
    'conflict',
    'stream: a stream in the background is gone on with by its id, not by an Idempotency-Key. Leave one of them out.',
  )

const full = () =>
  new ApiError('gateway_unavailable', {
    message: 'Too many answers are being made in the background. Try again soon.',
    retryAfterSeconds: 5,
  })
