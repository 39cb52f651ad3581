import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'

const everyMs = 10_000

/** The state of the installation, polled while the page is open. */
export const systemQuery = queryOptions({
  queryKey: ['operator', 'system'],
  queryFn: async () => bodyOf(api.GET('/api/admin/system')),
  refetchInterval: everyMs,
})

export type System = Schemas['System']

/** The last ledger audit requested on this page; none starts automatically. */
export const auditQuery = queryOptions({
  queryKey: ['ledger-audit'],
  queryFn: async () => bodyOf(api.GET('/api/admin/ledger-audit')),
  enabled: false,
  retry: false,
  staleTime: Infinity,
})

export type Audit = Schemas['LedgerAudit']

const bytes = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'megabyte',
  maximumFractionDigits: 0,
})
const megabyte = 1_000_000

/** Formats an amount of memory. */
export const formatBytes = (count: number) => bytes.format(count / megabyte)

const steps = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** Formats an uptime in its largest unit. */
export function formatUptime(seconds: number): string {
  const [unit, length] = steps.find(([, size]) => seconds >= size) ?? ['second', 1]
  const format = new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(Math.floor(seconds / length))
}
