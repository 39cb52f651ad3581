import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { callerOf } from './caller'
import type { Env } from './env'
import { assertSameOrigin, hasKey, type Sessions } from './session'
import { hashOf } from '../auth/api-key'
import { ApiError } from '../errors'
import type { Authenticator } from '../policy/authenticator'
import { actorContext, operatorActor } from '../audit-log/actor-context'
import type { OperatorChange, Trail } from '../audit-log/operator-trail'
import { isObject } from '../wire/json-body'

export interface OperatorPorts {
  adminKey: string
  door: Pick<Authenticator, 'enterOperator'>
  sessions: Sessions
  trail: Trail
}

/** Methods of requests that change nothing. */
export const reading: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const bytesOf = (hash: string) => Buffer.from(hash, 'hex')

/**
 * Reads that are recorded as changes are: they give out all that an account owns. Others show an operator a page of
 * what the work is about, and recording each would bury the changes.
 */
const disclosures: ReadonlySet<string> = new Set(['/api/admin/users/:id/export'])

/** A route as it is registered, without what its parameters may hold. */
const routeOf = (c: Context<Env>) =>
  (matchedRoutes(c)[c.req.routeIndex]?.path ?? '').replaceAll(/\{.*\}/g, '')

/** What is asked for, as far as it is known before the body is read. */
const changeBy = (c: Context<Env>, actorId: string | null): Omit<OperatorChange, 'sent'> => ({
  actorId,
  method: c.req.method,
  route: routeOf(c),
  pathIds: Object.values(c.req.param()),
  requestId: c.get('requestId'),
  // Of whoever is at the other end: what headers say of clients behind it, anybody may write.
  clientAddress: c.env.server.requestIP(c.req.raw)?.address ?? null,
})

/** An operator, as the organizations are told where he changes something of theirs. */
const operatorIn = (c: Context<Env>) => ({
  id: operatorActor,
  keyId: null,
  requestId: c.get('requestId'),
  clientAddress: null,
})

/** The id in an answer that says what was made. */
async function madeIn({ res }: Context<Env>): Promise<string | undefined> {
  if (res.status !== 201) return undefined
  const made: unknown = await res.clone().json()
  return isObject(made) && typeof made['id'] === 'string' ? made['id'] : undefined
}

/**
 * Lets operators in, by their key or the session of an operator's account, and has what they change on
 * record before it is answered. For everybody else the path does not exist.
 */
export function authenticateOperator({
  adminKey,
  door,
  sessions,
  trail,
}: OperatorPorts): MiddlewareHandler<Env> {
  const operatorHash = bytesOf(hashOf(adminKey))

  /** Hashes have one length, so that the comparison tells nothing about the key's. */
  const isOperatorKey = (authorization: string | undefined) => {
    const [, key = ''] = /^bearer\s+(\S+)$/i.exec(authorization ?? '') ?? []
    return timingSafeEqual(bytesOf(hashOf(key)), operatorHash)
  }

  /** The account of an operator's session, null for the operator key. */
  async function actorOf(c: Context<Env>): Promise<string | null> {
    const { raw } = c.req
    if (hasKey(raw)) {
      const isKey = () => isOperatorKey(c.req.header('authorization'))
      door.enterOperator(callerOf(c), isKey, new ApiError('resource_not_found'))
      return null
    }
    const found = await sessions.signedIn(raw.headers)
    if (!found?.isOperator) throw new ApiError('resource_not_found')
    assertSameOrigin(raw)
    return found.principal.userId
  }

  return async (c, next) => {
    const actorId = await actorOf(c)
    const isDisclosure = c.req.method === 'GET' && disclosures.has(routeOf(c))
    if (reading.has(c.req.method) && !isDisclosure) return next()
    const change = changeBy(c, actorId)
    return trail.record(
      () => ({ ...change, sent: c.get('sent') }),
      async () => {
        await actorContext.run(operatorIn(c), next)
        return { isDone: c.res.ok, madeId: await madeIn(c) }
      },
    )
  }
}
