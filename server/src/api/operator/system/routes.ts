import type { LedgerAuditStore } from './ledger-audit'
import { LedgerAudit, System } from './schema'
import type { SystemStore } from './store'
import { operator } from '../../../http/access'
import { route, type Route } from '../../../http/route'

const tag = 'System'

/** The stores that the routes read. */
export interface SystemStores {
  system: SystemStore
  ledgerAudit: LedgerAuditStore
}

/** The state of the installation, for the operator. */
export const systemRoutes = ({ system, ledgerAudit }: SystemStores): Route[] => [
  getSystem(system),
  auditLedger(ledgerAudit),
]

const getSystem = (system: SystemStore) =>
  route({
    method: 'get',
    path: '/api/admin/system',
    access: operator({ roles: ['read_only'] }),
    operationId: 'getSystem',
    tag,
    summary: 'Get the state of this node, its database and the other nodes',
    responses: { 200: System },
    handler: () => system.read(),
  })

const auditLedger = (ledgerAudit: LedgerAuditStore) =>
  route({
    method: 'get',
    path: '/api/admin/ledger-audit',
    access: operator({ roles: ['finance', 'read_only'] }),
    operationId: 'auditLedger',
    tag,
    summary: 'Audit the ledger',
    notes: 'Checks the whole ledger, or returns the report of the last minute.',
    responses: { 200: LedgerAudit },
    errors: ['gateway_unavailable'],
    handler: () => ledgerAudit.run(),
  })
