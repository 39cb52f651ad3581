import { z } from 'zod'
import {
  AuditDestination,
  AuditDestinationList,
  AuditDestinationWithKey,
  ChangedAuditDestination,
  maxAuditDestinations,
  NewAuditDestination,
} from './schema'
import type { OrganizationAuditDestinations } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFieldsUpTo, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Organizations'
const path = '/api/organizations/:id/audit-destinations'
const onePath = `${path}/:destination_id` as const
const params = { id: objectId('org').describe('ID of the organization') }
const oneParams = {
  ...params,
  destination_id: objectId('sink').describe('ID of the destination'),
}
const access = account('admin', { tenant: 'organization' })

export const destinationExamples: Record<string, z.input<typeof NewAuditDestination>> = {
  'A webhook': { name: 'SIEM', kind: 'webhook', url: 'https://siem.example.com/tollgate' },
  'A syslog server': { name: 'SIEM', kind: 'syslog', url: 'tls://siem.example.com:6514' },
}

/** Destinations of the audit log of an organization. Source: contract 9.7. */
export const auditDestinationRoutes = (destinations: OrganizationAuditDestinations): Route[] => [
  listDestinations(destinations),
  createDestination(destinations),
  changeDestination(destinations),
  deleteDestination(destinations),
  rotateSecret(destinations),
]

const listDestinations = (destinations: OrganizationAuditDestinations) =>
  route({
    method: 'get',
    path,
    access,
    operationId: 'listOrganizationAuditDestinations',
    tag,
    summary: 'List destinations of an audit log',
    notes: 'For owners and admins, as all of these.',
    params,
    query: z.object(pageFieldsUpTo(maxAuditDestinations)),
    responses: { 200: AuditDestinationList },
    handler: ({ principal, params: { id }, query }) =>
      destinations.list(principal, id, toPage(query, `audit destinations ${id}`)),
  })

const createDestination = (destinations: OrganizationAuditDestinations) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createOrganizationAuditDestination',
    tag,
    summary: 'Create a destination of an audit log',
    notes:
      'It takes the entries from its creation on, which is the first. A webhook is signed as Standard Webhooks has it; `secret` is shown once.',
    params,
    body: NewAuditDestination,
    examples: destinationExamples,
    responses: { 201: AuditDestinationWithKey },
    handler: ({ principal, params: { id }, body }) => destinations.create(principal, id, body),
  })

const changeDestination = (destinations: OrganizationAuditDestinations) =>
  route({
    method: 'put',
    path: onePath,
    access,
    operationId: 'changeOrganizationAuditDestination',
    tag,
    summary: 'Update a destination of an audit log',
    params: oneParams,
    body: ChangedAuditDestination,
    examples: { 'Let entries wait': { enabled: false } },
    responses: { 200: AuditDestination },
    handler: ({ principal, params: { id, destination_id: destinationId }, body }) =>
      destinations.change(principal, { id, destinationId }, body),
  })

const deleteDestination = (destinations: OrganizationAuditDestinations) =>
  route({
    method: 'delete',
    path: onePath,
    access,
    operationId: 'deleteOrganizationAuditDestination',
    tag,
    summary: 'Delete a destination of an audit log',
    notes: 'Entries that wait for it are not sent.',
    params: oneParams,
    responses: { 200: Success },
    handler: ({ principal, params: { id, destination_id: destinationId } }) =>
      destinations.delete(principal, { id, destinationId }),
  })

const rotateSecret = (destinations: OrganizationAuditDestinations) =>
  route({
    method: 'post',
    path: `${onePath}/rotate-secret`,
    access,
    operationId: 'rotateOrganizationAuditSecret',
    tag,
    summary: 'Rotate the secret of a webhook of an audit log',
    notes: 'For a day requests have two signatures, one of each secret.',
    params: oneParams,
    responses: { 200: AuditDestinationWithKey },
    handler: ({ principal, params: { id, destination_id: destinationId } }) =>
      destinations.rotate(principal, { id, destinationId }),
  })
