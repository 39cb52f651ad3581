import { api, bodyOf, type Schemas } from '../../api/client'

type NewDestination = Schemas['NewNotificationDestination']
type ChangedDestination = Schemas['ChangedNotificationDestination']

const ofOrganization = (id: string) => ({
  list: () =>
    bodyOf(
      api.GET('/api/organizations/{id}/notification-destinations', {
        params: { path: { id }, query: {} },
      }),
    ),
  create: (body: NewDestination) =>
    bodyOf(
      api.POST('/api/organizations/{id}/notification-destinations', {
        params: { path: { id } },
        body,
      }),
    ),
  change: (destinationId: string, body: ChangedDestination) =>
    api.PUT('/api/organizations/{id}/notification-destinations/{destination_id}', {
      params: { path: { id, destination_id: destinationId } },
      body,
    }),
  delete: (destinationId: string) =>
    api.DELETE('/api/organizations/{id}/notification-destinations/{destination_id}', {
      params: { path: { id, destination_id: destinationId } },
    }),
  rotate: (destinationId: string) =>
    bodyOf(
      api.POST('/api/organizations/{id}/notification-destinations/{destination_id}/rotate-secret', {
        params: { path: { id, destination_id: destinationId } },
      }),
    ),
  test: (destinationId: string) =>
    bodyOf(
      api.POST('/api/organizations/{id}/notification-destinations/{destination_id}/test', {
        params: { path: { id, destination_id: destinationId } },
      }),
    ),
  deliveries: (destinationId: string, limit: number) =>
    bodyOf(
      api.GET('/api/organizations/{id}/notification-destinations/{destination_id}/deliveries', {
        params: { path: { id, destination_id: destinationId }, query: { limit } },
      }),
    ),
  resend: (destinationId: string, deliveryId: string) =>
    api.POST(
      '/api/organizations/{id}/notification-destinations/{destination_id}/deliveries/{delivery_id}/resend',
      {
        params: { path: { id, destination_id: destinationId, delivery_id: deliveryId } },
      },
    ),
})

const ofAccount: ReturnType<typeof ofOrganization> = {
  list: () => bodyOf(api.GET('/api/account/notification-destinations', { params: { query: {} } })),
  create: (body) => bodyOf(api.POST('/api/account/notification-destinations', { body })),
  change: (destinationId, body) =>
    api.PUT('/api/account/notification-destinations/{destination_id}', {
      params: { path: { destination_id: destinationId } },
      body,
    }),
  delete: (destinationId) =>
    api.DELETE('/api/account/notification-destinations/{destination_id}', {
      params: { path: { destination_id: destinationId } },
    }),
  rotate: (destinationId) =>
    bodyOf(
      api.POST('/api/account/notification-destinations/{destination_id}/rotate-secret', {
        params: { path: { destination_id: destinationId } },
      }),
    ),
  test: (destinationId) =>
    bodyOf(
      api.POST('/api/account/notification-destinations/{destination_id}/test', {
        params: { path: { destination_id: destinationId } },
      }),
    ),
  deliveries: (destinationId, limit) =>
    bodyOf(
      api.GET('/api/account/notification-destinations/{destination_id}/deliveries', {
        params: { path: { destination_id: destinationId }, query: { limit } },
      }),
    ),
  resend: (destinationId, deliveryId) =>
    api.POST(
      '/api/account/notification-destinations/{destination_id}/deliveries/{delivery_id}/resend',
      {
        params: { path: { destination_id: destinationId, delivery_id: deliveryId } },
      },
    ),
}

/** The endpoints of the destinations of an organization, or of the account. */
export const endpointsOf = (organizationId: string | undefined) =>
  organizationId === undefined ? ofAccount : ofOrganization(organizationId)
