import type { Kysely } from 'kysely'
import type { ChangedDestination, NewDestination } from './schema'
import type { DestinationStore } from './store'
import type { Principal } from '../../../auth/principal'
import { requireManager } from '../../../auth/roles'
import type { Page } from '../../../http/paging'
import { ofOrganization } from '../../../platform/db/account-row'
import type { Schema } from '../../../platform/db/schema'

export type OrganizationDestinations = ReturnType<typeof createOrganizationDestinations>

/** A destination of an organization, by the ids of both. */
interface OfOrganization {
  id: string
  destinationId: string
}

/** The destinations of organizations for their owners and admins. Rejects as `requireManager` does. */
export function createOrganizationDestinations(db: Kysely<Schema>, destinations: DestinationStore) {
  const admitManager = async ({ userId }: Principal, id: string) => {
    await requireManager(db, userId, id)
    return ofOrganization(id)
  }
  return {
    list: async (caller: Principal, id: string, page: Page) =>
      destinations.list(await admitManager(caller, id), page),
    create: async (caller: Principal, id: string, fields: NewDestination) =>
      destinations.create(await admitManager(caller, id), fields),
    get: async (caller: Principal, { id, destinationId }: OfOrganization) =>
      destinations.get(await admitManager(caller, id), destinationId),
    change: async (
      caller: Principal,
      { id, destinationId }: OfOrganization,
      fields: ChangedDestination,
    ) => destinations.change(await admitManager(caller, id), destinationId, fields),
    delete: async (caller: Principal, { id, destinationId }: OfOrganization) =>
      destinations.delete(await admitManager(caller, id), destinationId),
    rotate: async (caller: Principal, { id, destinationId }: OfOrganization) =>
      destinations.rotate(await admitManager(caller, id), destinationId),
    test: async (caller: Principal, { id, destinationId }: OfOrganization) =>
      destinations.test(await admitManager(caller, id), destinationId),
    deliveries: async (caller: Principal, { id, destinationId }: OfOrganization, page: Page) =>
      destinations.deliveries(await admitManager(caller, id), destinationId, page),
    resend: async (caller: Principal, { id, destinationId }: OfOrganization, deliveryId: string) =>
      destinations.resend(await admitManager(caller, id), destinationId, deliveryId),
  }
}
