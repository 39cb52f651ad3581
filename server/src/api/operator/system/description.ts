import { LedgerAudit, System } from './schema'
import { operatorRoute } from '../../../http/documentation'

const tag = 'System'

export const described = {
  system: operatorRoute({
    operationId: 'getSystem',
    summary: 'How this node, its database and the other nodes fare',
    tag,
    answer: System,
  }),
  ledgerAudit: operatorRoute({
    operationId: 'auditLedger',
    summary: 'Check the whole ledger now, or see the report of the last minute',
    tag,
    answer: LedgerAudit,
    errors: ['gateway_unavailable'],
  }),
}
