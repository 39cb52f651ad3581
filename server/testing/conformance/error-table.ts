import { overflowOfClouds } from './overflow-clouds'
import { overflowOfMakers } from './overflow-makers'
import { overflowOfServers } from './overflow-servers'
import type { RefusalKind, RefusalRow } from './refusal'
import { refusedAccounts } from './refused-accounts'
import { refusedContent } from './refused-content'
import { refusedLimits } from './refused-limits'
import { refusedRequests } from './refused-requests'

/**
 * Texts of services for a prompt that is too long: from their documentation, their source or answers that
 * others recorded.
 */
export const overflowRows = [...overflowOfMakers, ...overflowOfClouds, ...overflowOfServers]

/** Other refusals of services, in their words. */
export const refusalRows: readonly RefusalRow[] = [
  ...refusedRequests,
  ...refusedContent,
  ...refusedAccounts,
  ...refusedLimits,
]

type Column = 'overflow' | RefusalKind

const columns: readonly (readonly [Column, string])[] = [
  ['overflow', 'prompt too long'],
  ['limit', 'other limits'],
  ['request', 'wrong request'],
  ['filter', 'content filter'],
  ['account', 'key, account, model'],
]

/** "Bedrock, Nova" is one of Bedrock's texts. */
const serviceOf = (name: string) => name.split(', ')[0] ?? name

const cells = (row: readonly string[]) => `| ${row.join(' | ')} |`

/** The table of docs/operate/providers.md: of which service how many texts of each kind are tested. */
export function errorTable(): string {
  const known = [
    ...overflowRows.map(({ service }) => ({ service: serviceOf(service), kind: 'overflow' })),
    ...refusalRows.map(({ service, kind }) => ({ service, kind })),
  ]
  const services = [...new Set(known.map(({ service }) => service))]
  const rows = services.map((service) => {
    const counts = columns.map(
      ([column]) => known.filter((row) => row.service === service && row.kind === column).length,
    )
    return [service, ...counts.map((count) => (count === 0 ? '' : String(count)))]
  })
  const head = ['Service', ...columns.map(([, title]) => title)]
  return [head, head.map(() => '---'), ...rows].map(cells).join('\n')
}
