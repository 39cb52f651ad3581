import type { Context } from 'hono'
import { z } from 'zod'
import {
  AuditDestination,
  AuditDestinationList,
  AuditDestinationWithKey,
  ChangedAuditDestination,
  maxAuditDestinations,
  NewAuditDestination,
} from '../../account/audit-destinations/schema'
import { shownUrl, type AuditDestinationStore } from '../../account/audit-destinations/store'
import { destinationExamples } from '../../account/audit-destinations/routes'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFieldsUpTo, toPage } from '../../../http/paging'
import type { Env } from '../../../http/env'
import { route, type Route } from '../../../http/route'

const tag = 'Audit log'
const path = '/api/admin/audit-destinations'
const onePath = `${path}/:id` as const
const params = { id: objectId('sink').describe('ID of the destination') }
const access = operator()

/** Destinations of all audit logs, for operators. Source: contract 9.7. */
export const installationAuditDestinationRoutes = (
  destinations: AuditDestinationStore,
): Route[] => [
  listDestinations(destinations),
  createDestination(destinations),
  changeDestination(destinations),
  deleteDestination(destinations),
  rotateSecret(destinations),
]

/** The path of an address may grant access: the audit log has none. */
function hideAddress(c: Context<Env>): void {
  const body = c.get('sent')
  const url = body?.['url']
  if (typeof url === 'string') c.set('sent', { ...body, url: shownUrl(url) })
}

const listDestinations = (destinations: AuditDestinationStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'listAuditDestinations',
    tag,
    summary: 'List destinations of audit logs',
    notes: 'They take the audit log of operators, and those of all organizations.',
    query: z.object(pageFieldsUpTo(maxAuditDestinations)),
    responses: { 200: AuditDestinationList },
    handler: ({ query }) => destinations.list(null, toPage(query, 'audit destinations')),
  })

const createDestination = (destinations: AuditDestinationStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createAuditDestination',
    tag,
    summary: 'Create a destination of audit logs',
    notes:
      'It takes the entries from its creation on, which is the first. A webhook is signed as Standard Webhooks has it; `secret` is shown once.',
    body: NewAuditDestination,
    examples: destinationExamples,
    responses: { 201: AuditDestinationWithKey },
    handler: ({ c, body }) => {
      hideAddress(c)
      return destinations.create(null, body)
    },
  })

const changeDestination = (destinations: AuditDestinationStore) =>
  route({
    method: 'put',
    path: onePath,
    access,
    operationId: 'changeAuditDestination',
    tag,
    summary: 'Update a destination of audit logs',
    params,
    body: ChangedAuditDestination,
    examples: { 'Let entries wait': { enabled: false } },
    responses: { 200: AuditDestination },
    handler: ({ c, params: { id }, body }) => {
      hideAddress(c)
      return destinations.change(null, id, body)
    },
  })

const deleteDestination = (destinations: AuditDestinationStore) =>
  route({
    method: 'delete',
    path: onePath,
    access,
    operationId: 'deleteAuditDestination',
    tag,
    summary: 'Delete a destination of audit logs',
    notes: 'Entries that wait for it are not sent.',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => destinations.delete(null, id),
  })

const rotateSecret = (destinations: AuditDestinationStore) =>
  route({
    method: 'post',
    path: `${onePath}/rotate-secret`,
    access,
    operationId: 'rotateAuditSecret',
    tag,
    summary: 'Rotate the secret of a webhook of audit logs',
    notes: 'For a day requests have two signatures, one of each secret.',
    params,
    responses: { 200: AuditDestinationWithKey },
    handler: ({ params: { id } }) => destinations.rotate(null, id),
  })
