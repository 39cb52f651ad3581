import type { BodyBudget } from './body-budget'
import type { Overload } from './overload'
import type { Principal } from '../auth/principal'
import type { RateLimitQuota } from '../errors'
import type { OwnerBudget } from '../policy/owner-budget'
import type { JsonObject } from '../wire/json-body'

/** What of the listening server a request is answered with. */
export type Server = Pick<Bun.Server<unknown>, 'requestIP' | 'timeout'>

/** What every handler finds in Hono's context. */
export interface Env {
  Bindings: {
    server: Server
    /** What large bodies may take. */
    bodies: BodyBudget
    /** The event loop's time, by owner. */
    budget: OwnerBudget
    overload: Pick<Overload, 'refusal' | 'entered' | 'answered'>
  }
  Variables: {
    /** `req_` and 26 characters: in header, log and error. */
    requestId: string
    /** Monotonic milliseconds. */
    startedAtMs: number
    /** Set by the guard of the route, where it asks for a key. */
    principal: Principal
    /** The most that a body may have; set by the guard of a route of `/api`. */
    bodyBytes: number
    /** The body of a request of `/api`, once its handler has read it. */
    sent: JsonObject | undefined
    /** It gets a line in the log when it ends. */
    hasLog: boolean | undefined
    /** Where the caller stands with his limits, once he is known; undefined where he has none. */
    quota: RateLimitQuota | undefined
  }
}
