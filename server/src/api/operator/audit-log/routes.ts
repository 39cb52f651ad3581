import { ExportedTrailFilter, OperatorEntryLine, TrailFilter, TrailList } from './schema'
import type { TrailStore } from './store'
import { operator } from '../../../http/access'
import { answerLines } from '../../../http/download'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

/** The audit log of operators. Source: contract 9.2. */
export const trailRoutes = (trail: TrailStore): Route[] => [
  listOperatorChanges(trail),
  exportOperatorChanges(trail),
]

const listOperatorChanges = (trail: TrailStore) =>
  route({
    method: 'get',
    path: '/api/admin/audit-trail',
    access: operator({ roles: ['read_only'] }),
    operationId: 'listOperatorChanges',
    tag: 'Audit log',
    summary: 'List changes by operators, exports and views of requests',
    notes: 'Newest first.',
    query: TrailFilter,
    responses: { 200: TrailList },
    handler: ({ query }) => {
      const { limit, offset, cursor, ...filter } = query
      return trail.list(
        toPage({ limit, offset, cursor }, `trail ${JSON.stringify(filter)}`),
        filter,
      )
    },
  })

const exportOperatorChanges = (trail: TrailStore) =>
  route({
    method: 'get',
    path: '/api/admin/audit-trail/export',
    access: operator({ roles: ['read_only'] }),
    operationId: 'exportOperatorChanges',
    tag: 'Audit log',
    summary: 'Export changes by operators',
    notes: 'Oldest first. The export is a change in the audit log itself.',
    query: ExportedTrailFilter,
    responses: {
      200: {
        description: 'One JSON object a line',
        content: { 'application/x-ndjson': OperatorEntryLine },
      },
    },
    handler: ({ c, query }) => answerLines(c, trail.lines(query)),
  })
