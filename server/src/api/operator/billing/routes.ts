import { InstallationBreakdownFilter } from '../../account/billing/breakdown-schema'
import { InstallationBreakdown, InstallationUsage, InstallationUsageFilter } from './schema'
import type { InstallationUsageStore } from './store'
import { operator } from '../../../http/access'
import { route, type Route } from '../../../http/route'

/** The usage of all accounts, for operators. Source: contract 9.2. */
export const installationUsageRoutes = (usage: InstallationUsageStore): Route[] => [
  route({
    method: 'get',
    path: '/api/admin/usage',
    access: operator({ roles: ['finance', 'read_only'] }),
    operationId: 'getInstallationUsage',
    tag: 'System',
    summary: 'Get the usage of all accounts',
    notes:
      'Requests, errors, cost and margin by provider, model and account, from sums by hour or day. Requests count as in the request logs, calls as the providers received them.',
    query: InstallationUsageFilter,
    responses: { 200: InstallationUsage },
    handler: ({ query }) => usage.read(query),
  }),
  route({
    method: 'get',
    path: '/api/admin/usage/breakdown',
    access: operator({ roles: ['finance', 'read_only'] }),
    operationId: 'getInstallationBreakdown',
    tag: 'System',
    summary: 'Get the usage of all accounts by one or two groupings',
    notes:
      'As `GET /api/billing/breakdown` does for one account. `cost` is the part that accounts paid themselves, `margin` the part of the charges that the operator keeps, less the costs of providers.',
    query: InstallationBreakdownFilter,
    responses: { 200: InstallationBreakdown },
    handler: ({ query }) => usage.breakdown(query),
  }),
]
