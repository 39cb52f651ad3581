import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

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

export const events = [
  'alert.triggered',
  'balance.low',
  'budget.threshold',
  'key.expiring',
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
  'quota_request.answered': 'Limits',
  'ticket.replied': 'Support',
  'invitation.received': 'Invitation',
  'account.notice': 'Service',
}

/** All destinations: an account has at most twenty. */
export const destinationsQuery = queryOptions({
  queryKey: ['destinations', 'list'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/account/notification-destinations', { params: { query: {} } })))
      .destinations,
})

/** The number of deliveries that are shown. */
export const shownDeliveries = 20

export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['destinations', 'deliveries', id],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/api/account/notification-destinations/{destination_id}/deliveries', {
            params: { path: { destination_id: id }, query: { limit: shownDeliveries } },
          }),
        )
      ).deliveries,
  })
