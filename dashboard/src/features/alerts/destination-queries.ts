import { queryOptions } from '@tanstack/react-query'
import { endpointsOf } from './destination-endpoints'
import type { Schemas } from '../../api/client'

export type Destination = Schemas['NotificationDestination']
export type Delivery = Schemas['NotificationDelivery']

const kinds = ['webhook', 'slack', 'teams', 'pagerduty'] as const

export const kindNames: Readonly<Record<Destination['kind'], string>> = {
  webhook: 'Webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
}

export const kindChoices = kinds.map((value) => ({ value, label: kindNames[value] }))

const events = [
  'alert.triggered',
  'balance.low',
  'budget.threshold',
  'key.expiring',
  'connection.failing',
  'quota_request.answered',
  'ticket.replied',
  'invitation.received',
  'account.notice',
] as const

/** Names the events as the inbox names its notifications. */
export const eventNames: Readonly<Record<Destination['events'][number], string>> = {
  'alert.triggered': 'Alert',
  'balance.low': 'Low balance',
  'budget.threshold': 'Budget',
  'key.expiring': 'API key',
  'connection.failing': 'Connection',
  'quota_request.answered': 'Limits',
  'ticket.replied': 'Support',
  'invitation.received': 'Invitation',
  'account.notice': 'Service',
}

/** The events that organizations have. */
const organizationEvents: readonly Destination['events'][number][] = [
  'balance.low',
  'budget.threshold',
  'connection.failing',
]

/** Returns the events of an account, or of an organization. */
export const eventsOf = (organizationId: string | undefined) =>
  organizationId === undefined ? events : organizationEvents

/** All destinations: an account, and an organization, has at most twenty. */
export const destinationsQuery = (organizationId: string | undefined) =>
  queryOptions({
    queryKey: ['destinations', 'list', organizationId ?? ''],
    queryFn: async () => (await endpointsOf(organizationId).list()).destinations,
  })

/** The number of deliveries that are shown. */
export const shownDeliveries = 20

export const deliveriesQuery = (organizationId: string | undefined, id: string) =>
  queryOptions({
    queryKey: ['destinations', 'deliveries', id],
    queryFn: async () =>
      (await endpointsOf(organizationId).deliveries(id, shownDeliveries)).deliveries,
  })
