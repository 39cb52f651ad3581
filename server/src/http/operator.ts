import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { OperatorAccess } from './access'
import { callerOf } from './caller'
import type { Env } from './env'
import { assertSameOrigin, hasKey, type Sessions } from './session'
import { hashOf } from '../auth/api-key'
import { ApiError } from '../errors'
import type { Authenticator } from '../auth/authenticator'
import type { OperatorRole } from '../platform/operator-role'
import { actorContext, operatorActor } from '../audit-log/actor-context'
import type { OperatorChange, Trail } from '../audit-log/operator-trail'
import { isObject } from '../wire/json-body'

export interface OperatorPorts {
  adminKey: string
  authenticator: Pick<Authenticator, 'authenticateOperator'>
  sessions: Sessions
  trail: Trail
}

/** Methods of read-only requests. */
export const reading: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const bytesOf = (hash: string) => Buffer.from(hash, 'hex')

/**
 * Reads that are audited as changes are: they disclose all data of an account, one of its requests, or the whole audit
 * log. Other reads show an operator a page of its subject, and auditing each would bury the changes.
 */
const disclosures: ReadonlySet<string> = new Set([
  '/api/admin/users/:id/export',
  '/api/admin/audit-trail/export',
  '/api/admin/request-logs/:id',
])

/** Returns the registered path of a route, without the patterns of its parameters. */
const routeOf = (c: Context<Env>) =>
  (matchedRoutes(c)[c.req.routeIndex]?.path ?? '').replaceAll(/\{.*\}/g, '')

/** Returns the audit fields that are known before the body is read. */
const changeBy = (
  c: Context<Env>,
  actorId: string | null,
): Omit<OperatorChange, 'sent' | 'accountId'> => ({
  actorId,
  method: c.req.method,
  route: routeOf(c),
  pathIds: Object.values(c.req.param()),
  requestId: c.get('requestId'),
  // The peer's address: `X-Forwarded-For` can be forged.
  clientAddress: c.env.server.requestIP(c.req.raw)?.address ?? null,
})

/** The operator as the actor in an organization's audit log. */
const operatorIn = (c: Context<Env>) => ({
  id: operatorActor,
  keyId: null,
  requestId: c.get('requestId'),
  clientAddress: null,
})

/** Reads the id of a created object from the response. */
async function readCreatedId({ res }: Context<Env>): Promise<string | undefined> {
  if (res.status !== 201) return undefined
  const body: unknown = await res.clone().json()
  return isObject(body) && typeof body['id'] === 'string' ? body['id'] : undefined
}

/** The caller of a route of operators. */
interface OperatorCaller {
  /** The account of a session; null for the operator key. */
  id: string | null
  role: OperatorRole
}

/** Throws `insufficient_permissions` for a role that a route does not name. */
function permitRole(role: OperatorRole, { roles }: OperatorAccess): void {
  if (role === 'operator' || roles.includes(role)) return
  const required: OperatorRole[] = ['operator', ...roles]
  const names = required.map((name) => `"${name}"`).join(' or ')
  throw new ApiError('insufficient_permissions', {
    message: `Your role of operators is "${role}"; this request requires ${names}.`,
    details: { required, current: [role] },
  })
}

/**
 * Authenticates operators by the operator key or the session of an account with a role, admits the roles of a route, and
 * audits changes before the response. For callers without a role the path does not exist.
 */
export function authenticateOperator({
  adminKey,
  authenticator,
  sessions,
  trail,
}: OperatorPorts): (access: OperatorAccess) => MiddlewareHandler<Env> {
  const operatorHash = bytesOf(hashOf(adminKey))

  /** Hashes have equal lengths, so that the comparison reveals nothing about the key's. */
  const isOperatorKey = (authorization: string | undefined) => {
    const [, key = ''] = /^bearer\s+(\S+)$/i.exec(authorization ?? '') ?? []
    return timingSafeEqual(bytesOf(hashOf(key)), operatorHash)
  }

  async function authenticate(c: Context<Env>): Promise<OperatorCaller> {
    const { raw } = c.req
    if (hasKey(raw)) {
      const isKey = () => isOperatorKey(c.req.header('authorization'))
      authenticator.authenticateOperator(callerOf(c), isKey, new ApiError('resource_not_found'))
      return { id: null, role: 'operator' }
    }
    const session = await sessions.signedIn(raw.headers)
    if (!session?.operatorRole) throw new ApiError('resource_not_found')
    assertSameOrigin(raw)
    return { id: session.principal.userId, role: session.operatorRole }
  }

  return (access) => async (c, next) => {
    const { id: actorId, role } = await authenticate(c)
    permitRole(role, access)
    c.set('operatorId', actorId)
    c.set('operatorRole', role)
    const isDisclosure = c.req.method === 'GET' && disclosures.has(routeOf(c))
    if (reading.has(c.req.method) && !isDisclosure) return next()
    const change = changeBy(c, actorId)
    return trail.record(
      () => ({ ...change, sent: c.get('sent'), accountId: c.get('disclosed') }),
      async () => {
        await actorContext.run(operatorIn(c), next)
        return { isDone: c.res.ok, createdId: await readCreatedId(c) }
      },
    )
  }
}
