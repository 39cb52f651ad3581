import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import type { OperatorAccess } from '../../../api/role'
import { toTimeWindow } from '../../../api/time-window'
import { formatCount, percent } from '../../../format/figures'
import { usd } from '../../../format/money'
import type { Period } from '../../../url/period'
import type { System } from '../system/queries'

export type InstallationUsage = Schemas['InstallationUsage']

const everyMs = 60_000

/** The usage of all accounts in a period, read again every minute. */
export const installationUsageQuery = (period: Period) =>
  queryOptions({
    queryKey: ['operator', 'usage', period],
    queryFn: async () => {
      const query = toTimeWindow(period, Date.now())
      return bodyOf(api.GET('/api/admin/usage', { params: { query } }))
    },
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  })

type May = OperatorAccess['may']

const readSystem = async (may: May) =>
  may('GET /api/admin/system') ? bodyOf(api.GET('/api/admin/system')) : undefined

async function countTickets(may: May): Promise<number> {
  if (!may('GET /api/admin/tickets')) return 0
  const query = { status: 'open' as const, limit: 1 }
  const { pagination } = await bodyOf(api.GET('/api/admin/tickets', { params: { query } }))
  return pagination.total
}

async function countQuotaRequests(may: May): Promise<number> {
  if (!may('GET /api/admin/quota-requests')) return 0
  const query = { status: 'pending' as const, limit: 1 }
  const { pagination } = await bodyOf(api.GET('/api/admin/quota-requests', { params: { query } }))
  return pagination.total
}

/** The state of the installation and what waits for an operator, as far as the role may read them, as a list of concerns. */
export const concernsQuery = (may: May) =>
  queryOptions({
    queryKey: ['operator', 'concerns'],
    queryFn: async () => {
      const [system, tickets, quotaRequests] = await Promise.all([
        readSystem(may),
        countTickets(may),
        countQuotaRequests(may),
      ])
      return listConcerns(system, { tickets, quotaRequests })
    },
    refetchInterval: everyMs,
  })

/** Something that an operator should look at, and the page for it. */
export interface Concern {
  text: string
  to: '/operator/system' | '/operator/tickets' | '/operator/quota-requests'
}

/** Lists what an operator should look at, the most urgent first. */
export function listConcerns(
  system: System | undefined,
  waiting: { tickets: number; quotaRequests: number },
): Concern[] {
  const concerns: (Concern | false)[] = [
    ...(system ? listFaults(system) : []),
    waiting.tickets > 0 && {
      text: formatCount(waiting.tickets, 'open ticket'),
      to: '/operator/tickets',
    },
    waiting.quotaRequests > 0 && {
      text: `${formatCount(waiting.quotaRequests, 'quota request')} to decide`,
      to: '/operator/quota-requests',
    },
  ]
  return concerns.filter((concern) => concern !== false)
}

function listFaults({
  breakers,
  database,
  journal,
  nodes,
  redis,
  usage,
}: System): (Concern | false)[] {
  const lostNodes = (nodes ?? []).filter(({ alive }) => !alive).length
  const overdue = usage?.orphans_older_than_a_day ?? 0
  return [
    !database.reachable && { text: 'The database is unreachable', to: '/operator/system' },
    journal.is_behind && {
      text: `${formatCount(journal.waiting, 'usage event')} could not be booked yet`,
      to: '/operator/system',
    },
    redis === 'lost' && { text: 'Redis is unreachable', to: '/operator/system' },
    lostNodes > 0 && {
      text: `${formatCount(lostNodes, 'node')} without a heartbeat`,
      to: '/operator/system',
    },
    ...breakers.failing.map(({ provider, model, state }) => ({
      text: `${provider}/${model}: the circuit breaker is ${state === 'open' ? 'open' : 'testing the connection'}`,
      to: '/operator/system' as const,
    })),
    overdue > 0 && {
      text: `${formatCount(overdue, 'attempt')} unresolved for more than a day`,
      to: '/operator/system',
    },
  ]
}

/** A change from an earlier amount, in words. */
export function describeChange(now: number, before: number): string {
  if (before === 0)
    return now === 0 ? 'None in the period before either' : 'None in the period before'
  const change = Math.round((now / before - 1) * 100)
  if (change === 0) return 'As in the period before'
  return `${Math.abs(change)}% ${change > 0 ? 'more' : 'less'} than in the period before`
}

/** Describes who paid, beside the accounts' own credits. */
export function describePayers(payers: InstallationUsage['by_payer']): string {
  const parts = [
    payers.organization > 0 && `${usd(payers.organization)} by organizations`,
    payers.operator > 0 && `${usd(payers.operator)} by the platform, not included`,
    payers.written_off > 0 && `${usd(payers.written_off)} written off`,
  ]
  const words = parts.filter((part) => part !== false).join('; ')
  return words === '' ? "From the accounts' own credits" : words
}

/** Describes a margin by what it is a part of. */
export function describeMargin({ revenue, margin }: { revenue: number; margin: number }): string {
  if (revenue === 0) return 'No revenue in this period'
  return `${percent((margin / revenue) * 100)} of ${usd(revenue)} revenue`
}

/** Describes how many requests a sum of provider costs does not include. */
export const describeUncosted = (requests: number): string =>
  requests === 0
    ? 'What providers bill you'
    : `Without ${formatCount(requests, 'request')} whose cost is unknown`
