import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createTrail } from '../audit-log/operator-trail'
import type { IdentityProviderPorts } from '../auth/sign-in/identity-provider/identity-provider'
import type { IdentityProviderConfig } from '../platform/config/identity-provider'
import { toRoleColumns, type OperatorRole } from '../platform/operator-role'
import type { Egress } from '../upstream/http/egress'

interface Dependencies {
  storage: Storage
  egress: Pick<Egress, 'send'>
  log: Logger
}

/** Names the identity provider where requests have an owner. */
const owner = 'identity-provider'

/** Creates what the sign-in by an identity provider needs of the server. */
export const identityProviderPorts = (
  config: IdentityProviderConfig,
  { storage, egress, log }: Dependencies,
): IdentityProviderPorts => ({
  config,
  db: storage.database.query,
  send: (request) => egress.send({ ...request, owner: ownerOf(request.url, config) }),
  ...accountPorts(config, { storage, log }),
})

/** Creates what a sign-in does to accounts, over either protocol. */
export const accountPorts = (
  config: Pick<IdentityProviderConfig, 'issuer'>,
  { storage, log }: Pick<Dependencies, 'storage' | 'log'>,
) => ({
  setRole: createRoleSetter(config, storage),
  onRefusal: (err: unknown) =>
    log.warn({ err }, 'the identity provider did not sign an account in or out'),
})

/**
 * Returns the owner of a request. The operator named the host of the issuer, which may be in a private network; other
 * hosts come from the discovery document, and are guarded as addresses of customers are.
 */
const ownerOf = (url: string, { issuer }: IdentityProviderConfig) =>
  new URL(url).host === new URL(issuer).host ? null : owner

/** Creates the change of a role, which is in the audit log as one by the operator key. */
function createRoleSetter(
  { issuer }: Pick<IdentityProviderConfig, 'issuer'>,
  { database: { query: db } }: Storage,
) {
  const trail = createTrail(db)
  return (userId: string, role: OperatorRole | null) => {
    const columns = toRoleColumns(role)
    const { is_operator: isOperator, operator_role: lesserRole } = columns
    return trail.record(
      () => ({
        actorId: null,
        method: 'PATCH',
        route: '/api/admin/users/:id',
        pathIds: [userId],
        sent: { is_operator: isOperator, operator_role: role, identity_provider: issuer },
        requestId: crypto.randomUUID(),
        clientAddress: null,
      }),
      async () => {
        const { numUpdatedRows } = await db
          .updateTable('users')
          .set({ ...columns, updated_at: new Date() })
          .where('id', '=', userId)
          .where((is) =>
            is.or([
              is('is_operator', '!=', isOperator),
              is('operator_role', 'is distinct from', lesserRole),
            ]),
          )
          .executeTakeFirst()
        return { isDone: numUpdatedRows > 0n }
      },
    )
  }
}
