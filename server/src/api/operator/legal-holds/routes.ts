import { LegalHold, LegalHoldFilter, LegalHoldList, NewLegalHold } from './schema'
import type { LegalHoldStore } from './store'
import { operator } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Audit log'
const access = operator()
const path = '/api/admin/legal-holds'

/** Legal holds, for operators. Source: contract 9.8. */
export const legalHoldRoutes = (holds: LegalHoldStore): Route[] => [
  listHolds(holds),
  createHold(holds),
  endHold(holds),
]

const listHolds = (holds: LegalHoldStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'listLegalHolds',
    tag,
    summary: 'List legal holds',
    notes: 'Newest first, ended ones too.',
    query: LegalHoldFilter,
    responses: { 200: LegalHoldList },
    handler: ({ query: { limit, offset, cursor, ...filter } }) =>
      holds.list(toPage({ limit, offset, cursor }, `holds ${JSON.stringify(filter)}`), filter),
  })

const createHold = (holds: LegalHoldStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createLegalHold',
    tag,
    summary: 'Create a legal hold on an account or an organization',
    notes:
      'Until it ends, audit logs, request logs and bodies stay beyond their retention, and neither the account or organization nor accounts with logs in it can be deleted.',
    body: NewLegalHold,
    examples: {
      'An account': { subject_id: 'user_01k9z3t6c8q4v7x2m5n0p1r3s4', reason: 'Case 2026-117.' },
    },
    responses: { 201: LegalHold },
    handler: ({ c, body }) => holds.create(c.get('operatorId') ?? null, body),
  })

const endHold = (holds: LegalHoldStore) =>
  route({
    method: 'post',
    path: `${path}/:id/end`,
    access,
    operationId: 'endLegalHold',
    tag,
    summary: 'Cancel a legal hold',
    notes: 'Rows beyond their retention are deleted within an hour.',
    params: { id: objectId('hold').describe('ID of the legal hold') },
    responses: { 200: LegalHold },
    handler: ({ c, params: { id } }) => holds.end(c.get('operatorId') ?? null, id),
  })
