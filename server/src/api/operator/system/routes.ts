import { Hono } from 'hono'
import { described } from './description'
import type { LedgerAuditStore } from './ledger-audit'
import type { SystemStore } from './store'
import type { Env } from '../../../http/env'
import type { Guards } from '../../../http/guards'

/** The stores that the routes read. */
export interface SystemStores {
  system: SystemStore
  ledgerAudit: LedgerAuditStore
}

/** The state of the installation, for the operator. */
export const systemRoutes = ({ system, ledgerAudit }: SystemStores, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/system', described.system, operator, async (c) => c.json(await system.look()))
    .get('/api/admin/ledger-audit', described.ledgerAudit, operator, async (c) =>
      c.json(await ledgerAudit.run()),
    )
