import type { Kysely } from 'kysely'
import { createOrganizationDestinations } from '../src/api/account/notification-destinations/organization-store'
import { createDestinationStore } from '../src/api/account/notification-destinations/store'
import { createNotificationStore } from '../src/api/account/notifications/store'
import type { Schema } from '../src/platform/db/schema'
import type { SealingKeys } from '../src/platform/db/sealed'

const never = () => Promise.reject(new Error('this gateway only describes itself'))

/** Creates the stores of notifications and their destinations, of a gateway that only describes itself. */
export function createDestinationStores(db: Kysely<Schema>, sealingKeys: SealingKeys) {
  const destinations = createDestinationStore({
    db,
    sealingKeys,
    checkAddress: never,
    deliver: never,
  })
  return {
    notifications: createNotificationStore(db),
    destinations,
    organizationDestinations: createOrganizationDestinations(db, destinations),
  }
}
