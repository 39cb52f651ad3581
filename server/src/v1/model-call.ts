import type { Context } from 'hono'
import type { RateLimitQuota } from '../errors'
import type { InboundRequest, Repeatable } from '../gateway/request'
import { promptCachingHeader } from '../gateway/prompt-caching'
import { tagsHeader } from '../gateway/request-tags'
import { parsingStored, readJson, type BodyMemory } from '../http/body'
import { smallBytes, type BodyBudget } from '../http/body-budget'
import { readForm } from '../http/form'
import { storeFile } from '../http/stored-file'
import type { Uploads } from '../http/upload-directory'
import type { BodyShare } from '../http/body-share'
import { systemClock, type Clock } from '../platform/clock'
import { readModelKey } from '../http/caller'
import type { Env, Server } from '../http/env'
import { unavailable } from '../errors'
import { hopsHeader, toHops } from '../wire/forwarding-loop'
import type { Usage } from '../wire/usage'
import type { ReadBody } from '../wire/json-body'
import type { FormLimits, UploadedFile } from '../wire/uploaded-file'
import type { Pause } from '../wire/json-slices'

const withoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path)

/** A request as the server received it. */
interface Received {
  request: Request
  server: Server
  bodies: BodyBudget
  uploads?: Uploads | undefined
  /** `req_` and 26 characters. */
  requestId: string
  /** Without query and fragment. */
  path: string
  clock?: Clock
}

/** A request to a model endpoint as the gateway takes it: one object, as each request allocates it. */
export class ModelCall implements InboundRequest, BodyMemory {
  readonly request: Request
  /** `req_` and 26 characters. */
  readonly requestId: string
  readonly path: string
  /** Monotonic milliseconds. */
  readonly startedAtMs = performance.now()
  readonly #server: Server
  readonly #bodies: BodyBudget
  readonly #uploads: Uploads | undefined
  #accountId = ''
  /** The caller's account, once known. */
  owner: string | undefined
  /** The share of its body, where that is large. */
  body: BodyShare | undefined
  upload: AsyncDisposable | undefined
  /** The caller's rate limit status once authenticated; undefined without limits. */
  quota: RateLimitQuota | undefined
  principal?: InboundRequest['principal']
  connectionId?: string | undefined
  signal: AbortSignal
  onSettled?: (usage: Usage | undefined, cost: bigint) => void
  repeatable?: Repeatable
  history?: InboundRequest['history']
  hasLog = false
  trace: InboundRequest['trace']
  #waitedMs = 0
  #waiting = 0
  #waitStartedMs = 0
  readonly #clock: Clock

  constructor(received: Received) {
    const { request, server, bodies, uploads, requestId, path, clock = systemClock } = received
    this.request = request
    this.requestId = requestId
    this.path = path
    this.#server = server
    this.#bodies = bodies
    this.#uploads = uploads
    this.signal = request.signal
    this.#clock = clock
  }

  get authorization(): string | null {
    return readModelKey(this.request)
  }

  get hops(): number {
    return toHops(this.request.headers.get(hopsHeader))
  }

  get promptCaching(): string | null {
    return this.request.headers.get(promptCachingHeader)
  }

  get tags(): string | null {
    return this.request.headers.get(tagsHeader)
  }

  get endpoint(): string {
    return withoutSlash(this.path)
  }

  get isForm(): boolean {
    return /^multipart\//i.test(this.request.headers.get('content-type') ?? '')
  }

  get isJson(): boolean {
    return /^application\/json/i.test(this.request.headers.get('content-type') ?? '')
  }

  get userAgent(): string {
    return this.request.headers.get('user-agent') ?? ''
  }

  address(): string {
    return this.#server.requestIP(this.request)?.address ?? ''
  }

  reportQuota(quota: RateLimitQuota | undefined): void {
    this.quota = quota
  }

  /** The time so far spent waiting for a provider. */
  get waitedMs(): number {
    const open = this.#waiting > 0 ? this.#clock.monotonicMs() - this.#waitStartedMs : 0
    return this.#waitedMs + open
  }

  /** Counts overlapping waits, as parts of a request wait side by side. */
  onWaiting(isWaiting: boolean): void {
    if (isWaiting && this.#waiting++ === 0) this.#waitStartedMs = this.#clock.monotonicMs()
    if (!isWaiting && --this.#waiting === 0) {
      this.#waitedMs += this.#clock.monotonicMs() - this.#waitStartedMs
    }
  }

  readBody(
    limitBytes: number,
    accountId: string,
    onText?: (text: string) => void,
  ): Promise<ReadBody> {
    this.#accountId = accountId
    return readJson(this.request, { limitBytes, server: this.#server, memory: this, onText })
  }

  async readForm(limits: FormLimits, accountId: string): Promise<ReadBody> {
    this.#accountId = accountId
    const uploads = this.#uploads
    if (!uploads) throw unavailable()
    const form = await readForm(this.request, {
      limits,
      uploads,
      owner: accountId,
      server: this.#server,
      clock: this.#clock,
    })
    this.upload = form
    return form
  }

  async storeFile(
    { name, type, bytes }: Pick<UploadedFile, 'name' | 'type' | 'bytes'>,
    pieces: Iterable<Uint8Array>,
  ): Promise<UploadedFile> {
    const uploads = this.#uploads
    if (!uploads) throw unavailable()
    const owner = this.#accountId
    const storedFile = await storeFile({ name, type, bytes }, pieces, {
      uploads,
      owner,
      signal: this.signal,
    })
    this.upload = storedFile
    return storedFile.file
  }

  async readMore<Read>(bytes: number, read: (pause: Pause) => Promise<Read>): Promise<Read> {
    const share = this.share()
    const pause = parsingStored(share, bytes)
    if (bytes <= smallBytes) return read(pause)
    const leave = () => share.release()
    this.signal.addEventListener('abort', leave, { once: true })
    try {
      await share.take(bytes)
      return await share.whileReading(read(pause))
    } finally {
      this.signal.removeEventListener('abort', leave)
    }
  }

  share(): BodyShare {
    return (this.body ??= this.#bodies.open(this.#accountId))
  }
}

/** Returns the model call of a request that came through the router. */
export const callOf = (c: Context<Env>): ModelCall =>
  new ModelCall({
    request: c.req.raw,
    server: c.env.server,
    bodies: c.env.bodies,
    uploads: c.env.uploads,
    requestId: c.get('requestId'),
    path: c.req.path,
  })
