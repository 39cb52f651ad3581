import { Hono } from 'hono'
import { described } from './description'
import { Adjustment, Grant, AnyTransactionFilter } from './schema'
import type { CreditStore } from './store'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

/** Credits, for the operator. Source: contract 6.7, 9.2. */
export const creditRoutes = (credits: CreditStore, { operator }: Guards) =>
  new Hono<Env>()
    .post('/api/admin/credits/grant', described.grant, operator, async (c) =>
      c.json(await credits.grant(await readNewFields(c, Grant)), 201),
    )
    .post('/api/admin/credits/adjust', described.adjust, operator, async (c) =>
      c.json(await credits.adjust(await readNewFields(c, Adjustment)), 201),
    )
    .get('/api/admin/transactions', described.list, operator, async (c) => {
      const filter = check(AnyTransactionFilter, c.req.query())
      const page = toPage(c, `transactions ${JSON.stringify(filter)}`)
      return c.json(await credits.list(page, filter))
    })
