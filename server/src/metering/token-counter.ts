import type { WorkerProgress, Encoding, TokenAnswer, TokenJob, UnknownToken } from './token-worker'

type Work = TokenJob extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'patienceMs'>
    : never
  : never

interface Waiting {
  work: Work
  /** From its begin, which is not before its vocabulary is loaded. */
  deadlineMs: number
  timer: NodeJS.Timeout
  resolve: (answer: TokenAnswer) => void
}

/** What is needed of a worker. */
export type CountingWorker = Pick<
  Worker,
  'addEventListener' | 'postMessage' | 'terminate' | 'unref'
>

interface Options {
  /** Jobs that may wait beside the one that runs; each holds its texts. */
  queueLimit?: number
  /** For jobs that bring no deadline of their own. */
  deadlineMs?: number
  /** How much longer a job waits while its vocabulary is loaded. */
  loadMs?: number
  /** How long after that a worker may load that nobody waits for any more, before it is ended. */
  maxLoadMs?: number
  /** How long the worker may be without work before it is ended. */
  idleMs?: number
  /** How long after its deadline a job may still occupy the worker before that is ended. */
  graceMs?: number
  /** Told why a worker died, for the log. */
  onFailure?: (cause: unknown) => void
  newWorker?: () => CountingWorker
}

const newTokenWorker = (): CountingWorker =>
  new Worker(new URL('./token-worker.ts', import.meta.url))

const encodingOf = (work: Work): Encoding => (work.kind === 'count' ? work.encoding : 'cl100k_base')

/**
 * Counts tokens in a worker, away from the event loop. The worker starts with the first job, ends
 * after some idle minutes to give its 100 MB back, and is replaced when it dies or overruns. On a busy
 * machine it takes seconds to load: a job's deadline begins after that, and what loads is not ended.
 *
 * No method throws or rejects: the answer is undefined when the deadline passed, the queue was full,
 * the worker died or the counter is disposed, and the caller goes on with bounds or an estimate.
 */
export class TokenCounter implements Disposable {
  readonly #options: Required<Options>
  readonly #waiting: Waiting[] = []
  #worker: CountingWorker | undefined
  /** The vocabularies that it has loaded. */
  readonly #loaded = new Set<Encoding>()
  #running: Waiting | undefined
  /** The one that runs has begun. */
  #hasBegun = false
  /** While a job runs late: ends the worker. While there is none: ends it for idleness. */
  #ending: NodeJS.Timeout | undefined
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
      ...options,
    }
  }

  /**
   * Tokens of all texts together, as OpenAI's models count them; markers such as `<|endoftext|>` are
   * text. Exact for text with gaps between words; an unbroken run counts at most one token more for
   * each 1,024 characters.
   */
  async count(
    texts: readonly string[],
    { encoding = 'o200k_base', deadlineMs }: { encoding?: Encoding; deadlineMs?: number } = {},
  ): Promise<number | undefined> {
    const answer = await this.#submit({ kind: 'count', texts, encoding }, deadlineMs)
    return typeof answer === 'number' ? answer : undefined
  }

  /**
   * Token ids back to texts, for embeddings of clients that tokenize (cl100k_base). An id outside the
   * vocabulary is the caller's mistake and answers which one it is; ids that end inside a character
   * leave U+FFFD there.
   */
  async decode(
    tokens: readonly (readonly number[])[],
    { deadlineMs }: { deadlineMs?: number } = {},
  ): Promise<string[] | UnknownToken | undefined> {
    const inputs = tokens.map((ids) => new Float64Array(ids))
    const answer = await this.#submit({ kind: 'decode', tokens: inputs }, deadlineMs)
    return typeof answer === 'number' ? undefined : answer
  }

  /** Ends the worker. What runs or waits answers undefined. */
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
    const { loadMs } = this.#options
    const waitMs = this.#loaded.has(encodingOf(work)) ? deadlineMs : loadMs + deadlineMs
    const timer = setTimeout(() => this.#expire(job), waitMs)
    const job: Waiting = { work, resolve, deadlineMs, timer }
    this.#waiting.push(job)
    this.#next()
    return promise
  }

  #next(): void {
    if (this.#running) return
    clearTimeout(this.#ending)
    this.#running = this.#waiting.shift()
    if (!this.#running) {
      this.#ending = setTimeout(() => this.#endWorker(), this.#options.idleMs).unref()
      return
    }
    const { work, deadlineMs: patienceMs } = this.#running
    this.#hasBegun = false
    this.#worker ??= this.#start()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's has none
    this.#worker.postMessage({ ...work, patienceMs })
  }

  /** Its vocabulary is loaded: from here on it and those that waited for the same have their own time. */
  #begun(running: Waiting): void {
    this.#hasBegun = true
    const encoding = encodingOf(running.work)
    const isFirst = !this.#loaded.has(encoding)
    this.#loaded.add(encoding)
    // One that nobody waits for any more has another grace, as it begins only now.
    clearTimeout(this.#ending)
    this.#expireIn(running, running.deadlineMs)
    if (!isFirst) return
    for (const job of this.#waiting) {
      if (encodingOf(job.work) === encoding) this.#expireIn(job, job.deadlineMs)
    }
  }

  #expireIn(job: Waiting, ms: number): void {
    clearTimeout(job.timer)
    job.timer = setTimeout(() => this.#expire(job), ms)
  }

  #expire(job: Waiting): void {
    this.#settle(job, undefined)
    const place = this.#waiting.indexOf(job)
    if (place !== -1) {
      this.#waiting.splice(place, 1)
      return
    }
    // The worker watches the same deadline and usually comes free by itself, still warm.
    const { graceMs, maxLoadMs } = this.#options
    const [waitMs, cause] = this.#hasBegun ? [graceMs, 'overran'] : [maxLoadMs, 'did not load']
    this.#ending = setTimeout(() => this.#replace(cause), waitMs).unref()
  }

  #settle(job: Waiting, answer: TokenAnswer): void {
    clearTimeout(job.timer)
    job.resolve(answer)
  }

  #start(): CountingWorker {
    const worker = this.#options.newWorker()
    // A promise somebody waits for is held by its deadline's timer, not by the worker.
    worker.unref()
    worker.addEventListener('message', ({ data }: MessageEvent<TokenAnswer | WorkerProgress>) => {
      if (worker !== this.#worker || !this.#running) return
      if (data === 'begun') return this.#begun(this.#running)
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
    clearTimeout(this.#ending)
    this.#worker?.terminate()
    this.#worker = undefined
    this.#loaded.clear()
    if (this.#running) this.#settle(this.#running, undefined)
    this.#running = undefined
  }
}
