import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

export type AuditDestination = Schemas['AuditDestination']
type NewDestination = Schemas['NewAuditDestination']
type ChangedDestination = Schemas['ChangedAuditDestination']

export const kindNames: Readonly<Record<AuditDestination['kind'], string>> = {
  webhook: 'Webhook',
  syslog: 'Syslog',
}

export const kindChoices = [
  { value: 'webhook', label: kindNames.webhook },
  { value: 'syslog', label: kindNames.syslog },
]

/** The endpoints of the destinations of an organization. */
const ofOrganization = (id: string) => ({
  list: () =>
    bodyOf(
      api.GET('/api/organizations/{id}/audit-destinations', {
        params: { path: { id }, query: {} },
      }),
    ),
  create: (body: NewDestination) =>
    bodyOf(
      api.POST('/api/organizations/{id}/audit-destinations', { params: { path: { id } }, body }),
    ),
  change: (destinationId: string, body: ChangedDestination) =>
    api.PUT('/api/organizations/{id}/audit-destinations/{destination_id}', {
      params: { path: { id, destination_id: destinationId } },
      body,
    }),
  delete: (destinationId: string) =>
    api.DELETE('/api/organizations/{id}/audit-destinations/{destination_id}', {
      params: { path: { id, destination_id: destinationId } },
    }),
  rotate: (destinationId: string) =>
    bodyOf(
      api.POST('/api/organizations/{id}/audit-destinations/{destination_id}/rotate-secret', {
        params: { path: { id, destination_id: destinationId } },
      }),
    ),
})

/** Those of the installation, for operators. */
const ofInstallation: ReturnType<typeof ofOrganization> = {
  list: () => bodyOf(api.GET('/api/admin/audit-destinations', { params: { query: {} } })),
  create: (body) => bodyOf(api.POST('/api/admin/audit-destinations', { body })),
  change: (id, body) =>
    api.PUT('/api/admin/audit-destinations/{id}', { params: { path: { id } }, body }),
  delete: (id) => api.DELETE('/api/admin/audit-destinations/{id}', { params: { path: { id } } }),
  rotate: (id) =>
    bodyOf(
      api.POST('/api/admin/audit-destinations/{id}/rotate-secret', { params: { path: { id } } }),
    ),
}

export const endpointsOf = (organizationId: string | undefined) =>
  organizationId === undefined ? ofInstallation : ofOrganization(organizationId)

export const destinationsKey = ['audit-destinations']

/** All destinations of an organization, or of the installation: each has at most ten. */
export const auditDestinationsQuery = (organizationId: string | undefined) =>
  queryOptions({
    queryKey: [...destinationsKey, organizationId ?? ''],
    queryFn: async () => (await endpointsOf(organizationId).list()).destinations,
  })
