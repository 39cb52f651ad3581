import { Hono } from 'hono'
import { described } from './description'
import { Adjustment, Grant, TransactionFilter } from './schema'
import type { CreditStore } from './store'
import type { Env } from '../../http/env'
import { newFields } from '../../http/fields'
import type { Guards } from '../../http/guards'
import { pageOf } from '../../http/paging'
import { check } from '../../wire/json-body'

/** Credits, for the operator. Source: contract 6.7, 9.2. */
export const creditRoutes = (credits: CreditStore, { operator }: Guards) =>
  new Hono<Env>()
    .post('/api/admin/credits/grant', described.grant, operator, async (c) =>
      c.json(await credits.grant(await newFields(c, Grant)), 201),
    )
    .post('/api/admin/credits/adjust', described.adjust, operator, async (c) =>
      c.json(await credits.adjust(await newFields(c, Adjustment)), 201),
    )
    .get('/api/admin/transactions', described.list, operator, async (c) => {
      const filter = check(TransactionFilter, c.req.query())
      const page = pageOf(c, `transactions ${JSON.stringify(filter)}`)
      return c.json(await credits.list(page, filter))
    })
