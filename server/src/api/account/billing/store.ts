import type { Kysely } from 'kysely'
import { readBalance } from './balance'
import { readBreakdown, toAccountFigures } from './breakdown'
import { breakdownSource } from './breakdown-source'
import type { UsageBreakdownFilter } from './breakdown-schema'
import { readForecast } from './forecast'
import type { ForecastFilter } from './forecast-schema'
import { readMetrics } from './metrics'
import { toMetricsPeriod } from './period'
import { checkReturnUrls } from './return-address'
import type { Checkout, MetricsFilter, CheckoutFields, TransactionFilter } from './schema'
import { readStatement } from './statement'
import type { StatementFilter } from './statement-schema'
import { listTransactions } from './transactions'
import { findBilledAccount } from './billed-account'
import type { Principal } from '../../../auth/principal'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import type { Page } from '../../../http/paging'
import type { RepeatPorts } from '../../../http/answer-once'
import { openCheckout, type OpenCheckout } from '../../../payments/checkout'
import type { Processor } from '../../../payments/processor'
import type { LiveSettings } from '../../../platform/settings/live-settings'
import { toUsd } from '../../../wire/usd'

interface Options {
  db: Kysely<Schema>
  settings: Pick<LiveSettings, 'current'>
  /** Undefined without a configured payment processor. */
  processor: Processor | undefined
  /** The public address of this service, undefined where none is configured. */
  baseUrl: string | undefined
  /** Idempotency of checkouts. */
  repeat: RepeatPorts
}

/** One request for a checkout. */
export interface CheckoutContext {
  /** The address at which this request reached the service. */
  origin: string
  /** Must be called before the call to the processor. */
  dispatched: () => void
}

export type BillingStore = ReturnType<typeof createBillingStore>

/** Throws `invalid_request` where an organization would save its payment method. */
function checkSavedMethod({ organization_id, save_payment_method: isSaved }: CheckoutFields): void {
  if (organization_id === undefined || !isSaved) return
  const message =
    'save_payment_method: only personal accounts support automatic recharge, organizations do not.'
  throw invalidRequest('save_payment_method', 'conflict', message)
}

const toCheckout = (row: OpenCheckout, organizationId: string | null): Checkout => ({
  id: row.id,
  url: row.url,
  amount: toUsd(row.amount),
  currency: 'USD',
  status: row.status,
  organization_id: organizationId,
  expires_at: toTimestamp(row.expires_at),
  created_at: toTimestamp(row.created_at),
})

/**
 * Balances, their transactions, and checkouts. All reject with `resource_not_found` for foreign organizations, and
 * with `insufficient_permissions` for callers that do not manage them.
 */
export function createBillingStore({ db, settings, processor, baseUrl, repeat }: Options) {
  return {
    repeat,
    balance: async (principal: Principal, organizationId: string | undefined) =>
      readBalance(db, await findBilledAccount(db, principal, organizationId), settings.current),
    transactions: async (principal: Principal, page: Page, filter: TransactionFilter) =>
      listTransactions(db, await findBilledAccount(db, principal, filter.organization_id), {
        page,
        filter,
      }),
    async metrics(principal: Principal, filter: MetricsFilter) {
      const now = new Date()
      const period = toMetricsPeriod(filter, now.getTime())
      const account = await findBilledAccount(db, principal, filter.organization_id)
      return readMetrics(db, account, { period, now })
    },
    async breakdown(principal: Principal, filter: UsageBreakdownFilter) {
      const account = await findBilledAccount(db, principal, filter.organization_id)
      const source = { ...breakdownSource(account, filter), toFigures: toAccountFigures }
      return readBreakdown(db, source, {
        filter,
        nowMs: Date.now(),
      })
    },
    async statement(principal: Principal, filter: StatementFilter) {
      const account = await findBilledAccount(db, principal, filter.organization_id)
      return readStatement(db, account, { filter, nowMs: Date.now() })
    },
    async forecast(principal: Principal, filter: ForecastFilter) {
      const account = await findBilledAccount(db, principal, filter.organization_id)
      return readForecast(db, account, { filter, nowMs: Date.now() })
    },
    async checkout(
      principal: Principal,
      fields: CheckoutFields,
      { origin, dispatched }: CheckoutContext,
    ) {
      checkSavedMethod(fields)
      const returnTo = checkReturnUrls(fields, {
        ownAddress: baseUrl ?? origin,
        origins: settings.current.allowedReturnOrigins,
      })
      const account = await findBilledAccount(db, principal, fields.organization_id)
      if (!processor) {
        const message = 'Payments are not configured: the operator must set STRIPE_SECRET_KEY.'
        throw invalidRequest(null, 'not_allowed', message)
      }
      dispatched()
      const opened = await openCheckout(db, processor, {
        userId: principal.userId,
        accountId: account.id,
        amount: fields.amount,
        saveMethod: fields.save_payment_method,
        hasTax: settings.current.invoices.stripeTax,
        returnTo,
      })
      return toCheckout(opened, account.organizationId)
    },
  }
}
