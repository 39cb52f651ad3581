import type { BodyBudget } from './body-budget'
import type { Uploads } from './upload-directory'
import type { Overload } from './overload'
import type { OperatorRole } from '../platform/operator-role'
import type { Principal } from '../auth/principal'
import type { RateLimitQuota } from '../errors'
import type { EventLoopShares } from '../limits/event-loop-shares'
import type { JsonObject } from '../wire/json-body'

/** The parts of the listening server that handlers use. */
export type Server = Pick<Bun.Server<unknown>, 'requestIP' | 'timeout'>

/** Hono's context of every handler. */
export interface Env {
  Bindings: {
    server: Server
    /** The memory budget of large bodies. */
    bodies: BodyBudget
    uploads: Uploads
    /** The event loop's time, by owner. */
    loopShares: EventLoopShares
    overload: Pick<Overload, 'refusal' | 'onEnter' | 'answered'>
  }
  Variables: {
    /** `req_` and 26 characters: in header, log and error. */
    requestId: string
    /** Monotonic milliseconds. */
    startedAtMs: number
    /** Set by the guard of a route that requires a key. */
    principal: Principal
    /** The body limit; set by the guard of a route of `/api`. */
    bodyBytes: number
    /** The body of a request of `/api`, once its handler has read it. */
    sent: JsonObject | undefined
    /** The account whose data an operator reads, once its handler knows it: the audit log names it. */
    disclosed: string | undefined
    /** The account of an operator's session; null for the operator key. */
    operatorId: string | null | undefined
    /** The role of the operator; that of full ones for the operator key. */
    operatorRole: OperatorRole
    /** Whether a log line follows when the request ends; then its response has none. */
    hasLog: boolean | undefined
    /** The caller's rate limit status once authenticated; undefined without limits. */
    quota: RateLimitQuota | undefined
  }
}
