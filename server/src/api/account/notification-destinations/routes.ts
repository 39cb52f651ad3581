import { z } from 'zod'
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
import type { DestinationStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, pageFieldsUpTo, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'
import { ofAccount } from '../../../platform/db/account-row'

const tag = 'Notifications'
const path = '/api/account/notification-destinations'
const params = { destination_id: objectId('dest').describe('ID of the destination') }

/** Destinations of an account's events. Source: contract 6.13. */
export const destinationRoutes = (destinations: DestinationStore): Route[] => [
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

const listDestinations = (destinations: DestinationStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listNotificationDestinations',
    tag,
    summary: 'List destinations of notifications',
    query: z.object(pageFieldsUpTo(maxDestinations)),
    responses: { 200: DestinationList },
    handler: ({ principal: { userId }, query }) =>
      destinations.list(ofAccount(userId), toPage(query, `destinations ${userId}`)),
  })

const createDestination = (destinations: DestinationStore) =>
  route({
    method: 'post',
    path,
    access: account('write'),
    operationId: 'createNotificationDestination',
    tag,
    summary: 'Create a destination of notifications',
    notes:
      'A webhook is signed as Standard Webhooks has it; `secret` is shown once. Without `events` it takes all.',
    body: NewDestination,
    examples: {
      'A webhook': {
        name: 'Operations',
        kind: 'webhook',
        url: 'https://hooks.example.com/tollgate',
        events: ['alert.triggered', 'balance.low'],
      },
      'A service of PagerDuty': {
        name: 'On call',
        kind: 'pagerduty',
        routing_key: 'R0123456789ABCDEFGHIJKLMNOPQRSTU',
        events: ['alert.triggered'],
      },
    },
    responses: { 201: DestinationWithKey },
    handler: ({ principal, body }) => destinations.create(ofAccount(principal.userId), body),
  })

const getDestination = (destinations: DestinationStore) =>
  route({
    method: 'get',
    path: `${path}/:destination_id`,
    access: account('read'),
    operationId: 'getNotificationDestination',
    tag,
    summary: 'Get a destination of notifications',
    params,
    responses: { 200: Destination },
    handler: ({ principal, params: { destination_id: id } }) =>
      destinations.get(ofAccount(principal.userId), id),
  })

const changeDestination = (destinations: DestinationStore) =>
  route({
    method: 'put',
    path: `${path}/:destination_id`,
    access: account('write'),
    operationId: 'changeNotificationDestination',
    tag,
    summary: 'Update a destination of notifications',
    params,
    body: ChangedDestination,
    examples: { 'Switch it off': { enabled: false } },
    responses: { 200: Destination },
    handler: ({ principal, params: { destination_id: id }, body }) =>
      destinations.change(ofAccount(principal.userId), id, body),
  })

const deleteDestination = (destinations: DestinationStore) =>
  route({
    method: 'delete',
    path: `${path}/:destination_id`,
    access: account('write'),
    operationId: 'deleteNotificationDestination',
    tag,
    summary: 'Delete a destination of notifications',
    notes: 'Its deliveries are deleted too; those that wait are not sent.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { destination_id: id } }) =>
      destinations.delete(ofAccount(principal.userId), id),
  })

const rotateKey = (destinations: DestinationStore) =>
  route({
    method: 'post',
    path: `${path}/:destination_id/rotate-secret`,
    access: account('write'),
    operationId: 'rotateNotificationSecret',
    tag,
    summary: 'Rotate the secret of a webhook',
    notes: 'For a day deliveries have two signatures, one of each secret.',
    params,
    responses: { 200: DestinationWithKey },
    handler: ({ principal, params: { destination_id: id } }) =>
      destinations.rotate(ofAccount(principal.userId), id),
  })

const sendTest = (destinations: DestinationStore) =>
  route({
    method: 'post',
    path: `${path}/:destination_id/test`,
    access: account('write'),
    operationId: 'testNotificationDestination',
    tag,
    summary: 'Send a test event',
    notes: 'Thirty an hour. Sent at once and not retried; works for a disabled destination.',
    params,
    responses: { 200: Delivery },
    handler: ({ principal, params: { destination_id: id } }) =>
      destinations.test(ofAccount(principal.userId), id),
  })

const showDeliveries = (destinations: DestinationStore) =>
  route({
    method: 'get',
    path: `${path}/:destination_id/deliveries`,
    access: account('read'),
    operationId: 'listNotificationDeliveries',
    tag,
    summary: 'List deliveries',
    notes: 'Of the last 30 days, newest first.',
    params,
    query: z.object(pageFields),
    responses: { 200: DeliveryList },
    handler: ({ principal: { userId }, params: { destination_id: id }, query }) =>
      destinations.deliveries(ofAccount(userId), id, toPage(query, `deliveries ${id}`)),
  })

const resendOne = (destinations: DestinationStore) =>
  route({
    method: 'post',
    path: `${path}/:destination_id/deliveries/:delivery_id/resend`,
    access: account('write'),
    operationId: 'resendNotificationDelivery',
    tag,
    summary: 'Send a delivery again',
    notes: 'It is due at once, under the same id.',
    params: { ...params, delivery_id: objectId('dlv').describe('ID of the delivery') },
    responses: { 200: Delivery },
    handler: ({ principal, params: { destination_id: id, delivery_id: deliveryId } }) =>
      destinations.resend(ofAccount(principal.userId), id, deliveryId),
  })
