import { z } from 'zod'
import type { OrganizationDestinations } from './organization-store'
import {
  ChangedDestination,
  Delivery,
  DeliveryList,
  Destination,
  DestinationList,
  DestinationWithKey,
  maxDestinations,
  NewDestination,
} from './schema'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, pageFieldsUpTo, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Organizations'
const path = '/api/organizations/:id/notification-destinations'
const onePath = `${path}/:destination_id` as const
const params = { id: objectId('org').describe('ID of the organization') }
const oneParams = { ...params, destination_id: objectId('dest').describe('ID of the destination') }
const access = account('admin', { tenant: 'organization' })

/** Destinations of an organization's events. Source: contract 6.13. */
export const organizationDestinationRoutes = (destinations: OrganizationDestinations): Route[] => [
  listDestinations(destinations),
  createDestination(destinations),
  getDestination(destinations),
  changeDestination(destinations),
  deleteDestination(destinations),
  rotateKey(destinations),
  sendTest(destinations),
  showDeliveries(destinations),
  resendOne(destinations),
]

const listDestinations = (destinations: OrganizationDestinations) =>
  route({
    method: 'get',
    path,
    access,
    operationId: 'listOrganizationNotificationDestinations',
    tag,
    summary: "List destinations of an organization's notifications",
    notes: 'For owners and admins, as all of these.',
    params,
    query: z.object(pageFieldsUpTo(maxDestinations)),
    responses: { 200: DestinationList },
    handler: ({ principal, params: { id }, query }) =>
      destinations.list(principal, id, toPage(query, `destinations ${id}`)),
  })

const createDestination = (destinations: OrganizationDestinations) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createOrganizationNotificationDestination',
    tag,
    summary: "Create a destination of an organization's notifications",
    notes:
      'A webhook is signed as Standard Webhooks has it; `secret` is shown once. Without `events` it takes all that organizations have.',
    params,
    body: NewDestination,
    examples: {
      'A webhook': {
        name: 'Operations',
        kind: 'webhook',
        url: 'https://hooks.example.com/tollgate',
        events: ['balance.low'],
      },
    },
    responses: { 201: DestinationWithKey },
    handler: ({ principal, params: { id }, body }) => destinations.create(principal, id, body),
  })

const getDestination = (destinations: OrganizationDestinations) =>
  route({
    method: 'get',
    path: onePath,
    access,
    operationId: 'getOrganizationNotificationDestination',
    tag,
    summary: "Get a destination of an organization's notifications",
    params: oneParams,
    responses: { 200: Destination },
    handler: ({ principal, params: { id, destination_id: destinationId } }) =>
      destinations.get(principal, { id, destinationId }),
  })

const changeDestination = (destinations: OrganizationDestinations) =>
  route({
    method: 'put',
    path: onePath,
    access,
    operationId: 'changeOrganizationNotificationDestination',
    tag,
    summary: "Update a destination of an organization's notifications",
    params: oneParams,
    body: ChangedDestination,
    examples: { 'Switch it off': { enabled: false } },
    responses: { 200: Destination },
    handler: ({ principal, params: { id, destination_id: destinationId }, body }) =>
      destinations.change(principal, { id, destinationId }, body),
  })

const deleteDestination = (destinations: OrganizationDestinations) =>
  route({
    method: 'delete',
    path: onePath,
    access,
    operationId: 'deleteOrganizationNotificationDestination',
    tag,
    summary: "Delete a destination of an organization's notifications",
    notes: 'Its deliveries are deleted too; those that wait are not sent.',
    params: oneParams,
    responses: { 200: Success },
    handler: ({ principal, params: { id, destination_id: destinationId } }) =>
      destinations.delete(principal, { id, destinationId }),
  })

const rotateKey = (destinations: OrganizationDestinations) =>
  route({
    method: 'post',
    path: `${onePath}/rotate-secret`,
    access,
    operationId: 'rotateOrganizationNotificationSecret',
    tag,
    summary: "Rotate the secret of an organization's webhook",
    notes: 'For a day deliveries have two signatures, one of each secret.',
    params: oneParams,
    responses: { 200: DestinationWithKey },
    handler: ({ principal, params: { id, destination_id: destinationId } }) =>
      destinations.rotate(principal, { id, destinationId }),
  })

const sendTest = (destinations: OrganizationDestinations) =>
  route({
    method: 'post',
    path: `${onePath}/test`,
    access,
    operationId: 'testOrganizationNotificationDestination',
    tag,
    summary: "Send a test event to an organization's destination",
    notes: 'Thirty an hour. Sent at once and not retried; works for a disabled destination.',
    params: oneParams,
    responses: { 200: Delivery },
    handler: ({ principal, params: { id, destination_id: destinationId } }) =>
      destinations.test(principal, { id, destinationId }),
  })

const showDeliveries = (destinations: OrganizationDestinations) =>
  route({
    method: 'get',
    path: `${onePath}/deliveries`,
    access,
    operationId: 'listOrganizationNotificationDeliveries',
    tag,
    summary: "List deliveries to an organization's destination",
    notes: 'Of the last 30 days, newest first.',
    params: oneParams,
    query: z.object(pageFields),
    responses: { 200: DeliveryList },
    handler: ({ principal, params: { id, destination_id: destinationId }, query }) =>
      destinations.deliveries(
        principal,
        { id, destinationId },
        toPage(query, `deliveries ${destinationId}`),
      ),
  })

const resendOne = (destinations: OrganizationDestinations) =>
  route({
    method: 'post',
    path: `${onePath}/deliveries/:delivery_id/resend`,
    access,
    operationId: 'resendOrganizationNotificationDelivery',
    tag,
    summary: 'Send a delivery of an organization again',
    notes: 'It is due at once, under the same id.',
    params: { ...oneParams, delivery_id: objectId('dlv').describe('ID of the delivery') },
    responses: { 200: Delivery },
    handler: ({
      principal,
      params: { id, destination_id: destinationId, delivery_id: deliveryId },
    }) => destinations.resend(principal, { id, destinationId }, deliveryId),
  })
