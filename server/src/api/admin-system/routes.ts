import { Hono } from 'hono'
import { described } from './description'
import type { LedgerAuditStore } from './ledger-audit'
import type { SystemStore } from './store'
import type { Env } from '../../http/env'
import type { Guards } from '../../http/guards'

/** What the routes read. */
export interface SystemStores {
  system: SystemStore
  ledgerAudit: LedgerAuditStore
}

/** How the installation fares, for the operator. */
export const systemRoutes = ({ system, ledgerAudit }: SystemStores, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/system', described.system, operator, async (c) => c.json(await system.look()))
    .get('/api/admin/ledger-audit', described.ledgerAudit, operator, async (c) =>
      c.json(await ledgerAudit.run()),
    )
