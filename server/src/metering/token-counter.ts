import type {
  BoundedTokens,
  Encoding,
  TokenAnswer,
  TokenJob,
  UnknownToken,
  Vocabulary,
  WorkerProgress,
} from './token-worker'
import { systemClock, type Clock, type Timer } from '../platform/clock'

type Work = TokenJob extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'timeoutMs'>
    : never
  : never

interface Waiting {
  work: Work
  /** Counted from the beginning of the job, once its vocabulary is loaded. */
  deadlineMs: number
  timer: Timer
  resolve: (answer: TokenAnswer) => void
}

/** The part of a worker that the counter needs. */
export type CountingWorker = Pick<
  Worker,
  'addEventListener' | 'postMessage' | 'terminate' | 'unref'
>

interface Options {
  /** The number of jobs that may wait beside the running one; each holds its texts. */
  queueLimit?: number
  /** For jobs without a deadline of their own. */
  deadlineMs?: number
  /** The additional wait of a job while its vocabulary is loaded. */
  loadMs?: number
  /** The time after that in which a worker may finish loading without a waiting job, before it is ended. */
  maxLoadMs?: number
  /** The time without work after which the worker is ended. */
  idleMs?: number
  /** The time after its deadline in which a job may still occupy the worker, before that is ended. */
  graceMs?: number
  /** Called with the reason for a worker's death, for the log. */
  onFailure?: (cause: unknown) => void
  newWorker?: () => CountingWorker
  clock?: Clock
}

const newTokenWorker = (): CountingWorker =>
  new Worker(new URL('./token-worker.ts', import.meta.url))

const encodingOf = (work: Work): Vocabulary =>
  work.kind === 'decode' ? 'cl100k_base' : work.encoding

/**
 * Counts tokens in a worker, away from the event loop. The worker starts with the first job, ends after some idle
 * minutes to free its 100 MB, and is replaced when it dies or overruns. On a busy machine it takes seconds to
 * load: a job's deadline begins after that, and a loading worker is not ended. No method throws or rejects: the
 * answer is undefined when the deadline passed, the queue was full, the worker died or the counter is disposed,
 * and the caller falls back to bounds or an estimate.
 */
export class TokenCounter implements Disposable {
  readonly #options: Required<Options>
  readonly #waiting: Waiting[] = []
  #worker: CountingWorker | undefined
  /** The vocabularies that the worker has loaded. */
  readonly #loadedVocabularies = new Set<Vocabulary>()
  #running: Waiting | undefined
  /** Whether the running job has begun. */
  #hasBegun = false
  /** The timer that ends the worker: for a job that runs late, or for idleness. */
  #ending: Timer | undefined
  #disposed = false

  constructor(options: Options = {}) {
    this.#options = {
      queueLimit: 32,
      deadlineMs: 2000,
      loadMs: 10_000,
      maxLoadMs: 60_000,
      idleMs: 180_000,
      graceMs: 1000,
      onFailure: () => {},
      newWorker: newTokenWorker,
      clock: systemClock,
      ...options,
    }
  }

  /**
   * Counts the tokens of all texts together, as OpenAI's models do; markers such as `<|endoftext|>` are text.
   * Exact for text with gaps between words; an unbroken run counts at most one token more for each 1,024
   * characters.
   */
  async count(
    texts: readonly string[],
    { encoding = 'o200k_base', deadlineMs }: { encoding?: Encoding; deadlineMs?: number } = {},
  ): Promise<number | undefined> {
    const answer = await this.#submit({ kind: 'count', texts, encoding }, deadlineMs)
    return typeof answer === 'number' ? answer : undefined
  }

  /**
   * Returns the most tokens that all texts together have, in the vocabulary that they are read in or in any. May be
   * more than their bytes.
   */
  async bound(
    texts: readonly string[],
    { encoding, deadlineMs }: { encoding: Vocabulary; deadlineMs: number },
  ): Promise<BoundedTokens | undefined> {
    const answer = await this.#submit({ kind: 'bound', texts, encoding }, deadlineMs)
    return typeof answer === 'object' && 'maxTokens' in answer ? answer : undefined
  }

  /**
   * Decodes token ids to texts, for embeddings of clients that tokenize (cl100k_base). An id outside the
   * vocabulary is the caller's mistake and is returned; ids that end inside a character leave U+FFFD there.
   */
  async decode(
    tokens: readonly (readonly number[])[],
    { deadlineMs }: { deadlineMs?: number } = {},
  ): Promise<string[] | UnknownToken | undefined> {
    const inputs = tokens.map((ids) => new Float64Array(ids))
    const answer = await this.#submit({ kind: 'decode', tokens: inputs }, deadlineMs)
    if (typeof answer === 'number' || (answer && 'maxTokens' in answer)) return undefined
    return answer
  }

  /** Ends the worker. Running and waiting jobs resolve with undefined. */
  [Symbol.dispose](): void {
    this.#disposed = true
    for (const job of this.#waiting.splice(0)) this.#settle(job, undefined)
    this.#endWorker()
  }

  #submit(work: Work, deadlineMs = this.#options.deadlineMs): Promise<TokenAnswer> {
    if (this.#disposed || this.#waiting.length >= this.#options.queueLimit) {
      return Promise.resolve(undefined)
    }
    const { promise, resolve } = Promise.withResolvers<TokenAnswer>()
    const { loadMs, clock } = this.#options
    const waitMs = this.#loadedVocabularies.has(encodingOf(work)) ? deadlineMs : loadMs + deadlineMs
    const timer = clock.after(waitMs, () => this.#expire(job))
    const job: Waiting = { work, resolve, deadlineMs, timer }
    this.#waiting.push(job)
    this.#next()
    return promise
  }

  #next(): void {
    if (this.#running) return
    this.#ending?.[Symbol.dispose]()
    this.#running = this.#waiting.shift()
    if (!this.#running) {
      this.#endAfter(this.#options.idleMs, () => this.#endWorker())
      return
    }
    const { work, deadlineMs: timeoutMs } = this.#running
    this.#hasBegun = false
    this.#worker ??= this.#start()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's has none
    this.#worker.postMessage({ ...work, timeoutMs })
  }

  /** Starts the time of a job whose vocabulary is loaded, and of those that waited for the same one. */
  #onBegun(running: Waiting): void {
    this.#hasBegun = true
    const encoding = encodingOf(running.work)
    const isFirst = !this.#loadedVocabularies.has(encoding)
    this.#loadedVocabularies.add(encoding)
    // A job without a waiting caller has another grace period, as it begins only now.
    this.#ending?.[Symbol.dispose]()
    this.#expireIn(running, running.deadlineMs)
    if (!isFirst) return
    for (const job of this.#waiting) {
      if (encodingOf(job.work) === encoding) this.#expireIn(job, job.deadlineMs)
    }
  }

  #expireIn(job: Waiting, ms: number): void {
    job.timer[Symbol.dispose]()
    job.timer = this.#options.clock.after(ms, () => this.#expire(job))
  }

  #expire(job: Waiting): void {
    this.#settle(job, undefined)
    const index = this.#waiting.indexOf(job)
    if (index !== -1) {
      this.#waiting.splice(index, 1)
      return
    }
    // The worker watches the same deadline and usually becomes free by itself, still warm.
    const { graceMs, maxLoadMs } = this.#options
    const [waitMs, cause] = this.#hasBegun ? [graceMs, 'overran'] : [maxLoadMs, 'did not load']
    this.#endAfter(waitMs, () => this.#replace(cause))
  }

  #endAfter(ms: number, end: () => void): void {
    this.#ending = this.#options.clock.after(ms, end)
    this.#ending.unref()
  }

  #settle(job: Waiting, answer: TokenAnswer): void {
    job.timer[Symbol.dispose]()
    job.resolve(answer)
  }

  #start(): CountingWorker {
    const worker = this.#options.newWorker()
    // The timer of a waiting job's deadline keeps the process alive, not the worker.
    worker.unref()
    worker.addEventListener('message', ({ data }: MessageEvent<TokenAnswer | WorkerProgress>) => {
      if (worker !== this.#worker || !this.#running) return
      if (data === 'begun') return this.#onBegun(this.#running)
      this.#settle(this.#running, data)
      this.#running = undefined
      this.#next()
    })
    const onDeath = (event: Event) => {
      if (worker === this.#worker)
        this.#replace(event instanceof ErrorEvent ? event.message : event.type)
    }
    worker.addEventListener('error', onDeath)
    worker.addEventListener('close', onDeath)
    return worker
  }

  #replace(cause: unknown): void {
    this.#endWorker()
    this.#options.onFailure(cause)
    this.#next()
  }

  #endWorker(): void {
    this.#ending?.[Symbol.dispose]()
    this.#worker?.terminate()
    this.#worker = undefined
    this.#loadedVocabularies.clear()
    if (this.#running) this.#settle(this.#running, undefined)
    this.#running = undefined
  }
}
