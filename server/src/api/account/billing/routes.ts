import { Hono } from 'hono'
import { z } from 'zod'
import * as described from './description'
import { MetricsFilter, CheckoutFields, TransactionFilter, BillingOwner } from './schema'
import type { BillingStore } from './store'
import { permit } from '../../../auth/principal'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { answerOnce } from '../../../http/answer-once'
import { check } from '../../../wire/json-body'

const paths = '/api/billing'
const AnyFields = z.looseObject({})

/** Billing of accounts and organizations. Source: contract 6.7. */
export const billingRoutes = (billing: BillingStore, { account }: Guards) =>
  new Hono<Env>()
    .get(`${paths}/balance`, described.getBalance, account('read', 'organization'), async (c) => {
      const { organization_id: organizationId } = check(BillingOwner, c.req.query())
      return c.json(await billing.balance(c.var.principal, organizationId))
    })
    .get(
      `${paths}/transactions`,
      described.listTransactions,
      account('read', 'organization'),
      async (c) => {
        const filter = check(TransactionFilter, c.req.query())
        const scope = JSON.stringify(['billing', c.var.principal.userId, filter])
        return c.json(await billing.transactions(c.var.principal, toPage(c, scope), filter))
      },
    )
    .get(
      `${paths}/metrics`,
      described.getBillingMetrics,
      account('read', 'organization'),
      async (c) =>
        c.json(await billing.metrics(c.var.principal, check(MetricsFilter, c.req.query()))),
    )
    .post(
      `${paths}/checkout`,
      described.createCheckout,
      account('write', 'organization'),
      async (c) => {
        const body = await readNewFields(c, AnyFields)
        return answerOnce(c, { ...billing.repeat, body }, async (dispatched) => {
          const fields = check(CheckoutFields, body)
          const { principal } = c.var
          if (fields.organization_id !== undefined) permit(principal, 'admin')
          const { origin } = new URL(c.req.url)
          return c.json(await billing.checkout(principal, fields, { origin, dispatched }), 201)
        })
      },
    )
