import { Hono } from 'hono'
import { z } from 'zod'
import * as described from './description'
import { NewEstimate, NewQuotaRequest } from './schema'
import type { QuotaStore } from './store'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/user/quota'

const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

const Filter = z.object({
  start_date: moment.optional(),
  end_date: moment.optional(),
  granularity: z.enum(['day', 'month']).default('day'),
})

/** Limits of an account, and cost estimates. Source: contract 6.11. */
export const quotaRoutes = (quota: QuotaStore, { account }: Guards) =>
  new Hono<Env>()
    .get(`${paths}/status`, described.getQuotaStatus, account('read', 'account'), async (c) =>
      c.json(await quota.status(c.var.principal.userId)),
    )
    .get(`${paths}/history`, described.getQuotaHistory, account('read', 'account'), async (c) => {
      const filter = check(Filter, c.req.query())
      const { userId } = c.var.principal
      const page = toPage(c, `quota ${userId} ${JSON.stringify(filter)}`)
      return c.json(await quota.history(userId, page, filter))
    })
    .get(
      `${paths}/requests`,
      described.listQuotaRequests,
      account('read', 'account'),
      async (c) => {
        const { userId } = c.var.principal
        return c.json(await quota.requests(userId, toPage(c, `quota requests of ${userId}`)))
      },
    )
    .post(
      `${paths}/request-increase`,
      described.requestIncrease,
      account('write', 'account'),
      async (c) =>
        c.json(
          await quota.requestIncrease(
            c.var.principal.userId,
            await readNewFields(c, NewQuotaRequest),
          ),
          201,
        ),
    )
    .post(
      `${paths}/estimate-cost`,
      described.estimateCost,
      account('write', 'organization', 'bulk'),
      async (c) =>
        c.json(await quota.estimate(c.var.principal, await readNewFields(c, NewEstimate))),
    )
