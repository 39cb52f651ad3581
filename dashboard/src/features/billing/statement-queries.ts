import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { present } from '../../url/search'
import { browserZone } from '../explorer/span'
import type { StatementMonth } from './statement-month'

export type Statement = Schemas['BillingStatement']
export type StatementLine = Statement['lines'][number]
export type SpendForecast = Schemas['SpendForecast']

/** Keeps the figures of a page that stays open up to date. */
const refetchInterval = 60_000

interface StatementOf extends StatementMonth {
  organization: string | undefined
}

const toParameters = ({ organization, month, zone }: StatementOf) =>
  present({ organization_id: organization, month, time_zone: zone })

/** The statement of a balance for a month. */
export const statementQuery = (of: StatementOf) =>
  queryOptions({
    queryKey: ['billing', 'statement', of],
    queryFn: () =>
      bodyOf(api.GET('/api/billing/statement', { params: { query: toParameters(of) } })),
    refetchInterval,
    placeholderData: keepPreviousData,
  })

/** Returns the address of a statement as a file. */
export function statementAddress({ organization, month, zone }: StatementOf): string {
  const query = new URLSearchParams({ month, time_zone: zone })
  if (organization !== undefined) query.set('organization_id', organization)
  return `/api/billing/statement.csv?${query.toString()}`
}

/** The forecast of a balance for this month. */
export const forecastQuery = (organization: string | undefined) =>
  queryOptions({
    queryKey: ['billing', 'forecast', organization],
    queryFn: async () => {
      const query = present({ organization_id: organization, time_zone: browserZone() })
      return bodyOf(api.GET('/api/billing/forecast', { params: { query } }))
    },
    refetchInterval,
  })
