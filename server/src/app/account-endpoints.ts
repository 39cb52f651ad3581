import { Hono } from 'hono'
import { billingRoutes } from '../api/billing/routes'
import type { BillingStore } from '../api/billing/store'
import { alertRoutes } from '../api/alerts/routes'
import type { AlertStore } from '../api/alerts/store'
import { poolRoutes } from '../api/connection-pools/routes'
import type { PoolStore } from '../api/connection-pools/store'
import { connectionModelRoutes } from '../api/connections/model-routes'
import type { ConnectionModelStore } from '../api/connections/models'
import { connectionRoutes } from '../api/connections/routes'
import type { ConnectionStore } from '../api/connections/store'
import { gatewayRoutes } from '../api/gateways/routes'
import type { GatewayStore } from '../api/gateways/store'
import { handleRoutes } from '../api/handles/routes'
import type { HandleStore } from '../api/handles/store'
import { keyRoutes } from '../api/keys/routes'
import type { OwnKeyStore } from '../api/keys/store'
import { collectionRoutes } from '../api/model-collections/routes'
import type { CollectionStore } from '../api/model-collections/store'
import { catalogueRoutes, type CatalogueStores } from '../api/models/routes'
import { mappingRoutes } from '../api/model-mappings/routes'
import type { MappingStore } from '../api/model-mappings/store'
import { notificationRoutes } from '../api/notifications/routes'
import type { NotificationStore } from '../api/notifications/store'
import { invitationRoutes, type InvitationStores } from '../api/organizations/invitation-routes'
import { organizationRoutes, type OrganizationStores } from '../api/organizations/routes'
import { requestLogRoutes } from '../api/request-logs/routes'
import type { RequestLogStore } from '../api/request-logs/store'
import { settingsRoutes } from '../api/settings/routes'
import type { AccountSettingsStore } from '../api/settings/store'
import { paymentEventRoutes, type PaymentEvents } from '../api/payment-events/routes'
import { promptRoutes } from '../api/prompts/routes'
import type { PromptStore } from '../api/prompts/store'
import { quotaRoutes } from '../api/quota/routes'
import type { QuotaStore } from '../api/quota/store'
import { ticketRoutes } from '../api/support/routes'
import type { TicketStore } from '../api/support/store'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'

export interface AccountStores extends OrganizationStores, InvitationStores, CatalogueStores {
  connections: ConnectionStore
  connectionModels: ConnectionModelStore
  pools: PoolStore
  gateways: GatewayStore
  mappings: MappingStore
  collections: CollectionStore
  handles: HandleStore
  requestLogs: RequestLogStore
  accountSettings: AccountSettingsStore
  billing: BillingStore
  paymentEvents: PaymentEvents
  alerts: AlertStore
  notifications: NotificationStore
  keys: OwnKeyStore
  prompts: PromptStore
  quota: QuotaStore
  tickets: TicketStore
}

/** `/api` for customers. */
export const accountEndpoints = (stores: AccountStores, guards: Guards) =>
  new Hono<Env>()
    .route('/', connectionRoutes(stores.connections, guards))
    .route('/', connectionModelRoutes(stores.connectionModels, guards))
    .route('/', poolRoutes(stores.pools, guards))
    .route('/', gatewayRoutes(stores.gateways, guards))
    .route('/', invitationRoutes(stores, guards))
    .route('/', organizationRoutes(stores, guards))
    .route('/', collectionRoutes(stores.collections, guards))
    .route('/', mappingRoutes(stores.mappings, guards))
    .route('/', handleRoutes(stores.handles, guards))
    .route('/', requestLogRoutes(stores.requestLogs, guards))
    .route('/', settingsRoutes(stores.accountSettings, guards))
    .route('/', billingRoutes(stores.billing, guards))
    .route('/', paymentEventRoutes(stores.paymentEvents, guards))
    .route('/', alertRoutes(stores.alerts, guards))
    .route('/', notificationRoutes(stores.notifications, guards))
    .route('/', keyRoutes(stores.keys, guards))
    .route('/', catalogueRoutes(stores, guards))
    .route('/', promptRoutes(stores.prompts, guards))
    .route('/', quotaRoutes(stores.quota, guards))
    .route('/', ticketRoutes(stores.tickets, guards))

/** The types of these routes, for typed clients. */
export type AccountApi = ReturnType<typeof accountEndpoints>
