import { Hono } from 'hono'
import { poolRoutes } from '../api/connection-pools/routes'
import type { PoolStore } from '../api/connection-pools/store'
import { connectionRoutes } from '../api/connections/routes'
import type { ConnectionStore } from '../api/connections/store'
import { handleRoutes } from '../api/handles/routes'
import type { HandleStore } from '../api/handles/store'
import { collectionRoutes } from '../api/model-collections/routes'
import type { CollectionStore } from '../api/model-collections/store'
import { mappingRoutes } from '../api/model-mappings/routes'
import type { MappingStore } from '../api/model-mappings/store'
import { invitationRoutes, type InvitationStores } from '../api/organizations/invitation-routes'
import { organizationRoutes, type OrganizationStores } from '../api/organizations/routes'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'

export interface AccountStores extends OrganizationStores, InvitationStores {
  connections: ConnectionStore
  pools: PoolStore
  mappings: MappingStore
  collections: CollectionStore
  handles: HandleStore
}

/** `/api` for customers. */
export const accountEndpoints = (stores: AccountStores, guards: Guards) =>
  new Hono<Env>()
    .route('/', connectionRoutes(stores.connections, guards))
    .route('/', poolRoutes(stores.pools, guards))
    .route('/', invitationRoutes(stores, guards))
    .route('/', organizationRoutes(stores, guards))
    .route('/', collectionRoutes(stores.collections, guards))
    .route('/', mappingRoutes(stores.mappings, guards))
    .route('/', handleRoutes(stores.handles, guards))
