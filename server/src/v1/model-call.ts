import type { Context } from 'hono'
import type { Quota } from '../errors'
import type { Call, ReadBody, Repeatable } from '../gateway/job'
import { promptCachingHeader } from '../gateway/prompt-caching'
import { readJson, type Room } from '../http/body'
import { smallBytes, type BodyBudget } from '../http/body-budget'
import type { BodyShare } from '../http/body-share'
import { modelKeyOf } from '../http/caller'
import type { Env, Server } from '../http/env'
import { hopsHeader, toHops } from '../wire/hops'
import type { Usage } from '../wire/usage'

const withoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path)

/** A request as the server got it. */
interface Received {
  request: Request
  server: Server
  bodies: BodyBudget
  /** `req_` and 26 characters. */
  requestId: string
  /** Without query and fragment. */
  path: string
}

/** A request to a model endpoint as the gateway takes it: one object, as there is one for each. */
export class ModelCall implements Call, Room {
  readonly request: Request
  /** `req_` and 26 characters. */
  readonly requestId: string
  readonly path: string
  /** Monotonic milliseconds. */
  readonly startedAtMs = performance.now()
  readonly #server: Server
  readonly #bodies: BodyBudget
  #accountId = ''
  /** The account of its caller, once that is known. */
  owner: string | undefined
  /** What its body takes, where that is large. */
  body: BodyShare | undefined
  /** Where its caller stands with his limits, once he is known; undefined where he has none. */
  quota: Quota | undefined
  principal?: Call['principal']
  connectionId?: string | undefined
  signal: AbortSignal
  settled?: (usage: Usage | undefined, cost: bigint) => void
  repeatable?: Repeatable
  history?: Call['history']
  hasLog = false
  trace: Call['trace']
  #waitedMs = 0
  #waiting = 0
  #waitingSinceMs = 0

  constructor({ request, server, bodies, requestId, path }: Received) {
    this.request = request
    this.requestId = requestId
    this.path = path
    this.#server = server
    this.#bodies = bodies
    this.signal = request.signal
  }

  get authorization(): string | null {
    return modelKeyOf(this.request)
  }

  get hops(): number {
    return toHops(this.request.headers.get(hopsHeader))
  }

  get promptCaching(): string | null {
    return this.request.headers.get(promptCachingHeader)
  }

  get endpoint(): string {
    return withoutSlash(this.path)
  }

  get userAgent(): string {
    return this.request.headers.get('user-agent') ?? ''
  }

  address(): string {
    return this.#server.requestIP(this.request)?.address ?? ''
  }

  tell(quota: Quota | undefined): void {
    this.quota = quota
  }

  /** For how much of its time so far a provider was waited for. */
  get waitedMs(): number {
    const open = this.#waiting > 0 ? performance.now() - this.#waitingSinceMs : 0
    return this.#waitedMs + open
  }

  /** Parts of a request wait side by side. */
  waits(isWaiting: boolean): void {
    if (isWaiting && this.#waiting++ === 0) this.#waitingSinceMs = performance.now()
    if (!isWaiting && --this.#waiting === 0) {
      this.#waitedMs += performance.now() - this.#waitingSinceMs
    }
  }

  readBody(
    limitBytes: number,
    accountId: string,
    onText?: (text: string) => void,
  ): Promise<ReadBody> {
    this.#accountId = accountId
    return readJson(this.request, { limitBytes, server: this.#server, room: this, onText })
  }

  async readMore<Read>(bytes: number, read: () => Promise<Read>): Promise<Read> {
    if (bytes <= smallBytes) return read()
    const share = this.share()
    const leave = () => share.release()
    this.signal.addEventListener('abort', leave, { once: true })
    try {
      await share.take(bytes)
      return await share.whileReading(read())
    } finally {
      this.signal.removeEventListener('abort', leave)
    }
  }

  share(): BodyShare {
    return (this.body ??= this.#bodies.open(this.#accountId))
  }
}

/** The same of a request that came through the router. */
export const callOf = (c: Context<Env>): ModelCall =>
  new ModelCall({
    request: c.req.raw,
    server: c.env.server,
    bodies: c.env.bodies,
    requestId: c.get('requestId'),
    path: c.req.path,
  })
