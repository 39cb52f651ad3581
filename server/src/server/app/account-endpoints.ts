import { Hono } from 'hono'
import { billingRoutes } from '../../api/account/billing/routes'
import type { BillingStore } from '../../api/account/billing/store'
import { alertRoutes } from '../../api/account/alerts/routes'
import type { AlertStore } from '../../api/account/alerts/store'
import { poolRoutes } from '../../api/account/connection-pools/routes'
import type { PoolStore } from '../../api/account/connection-pools/store'
import { connectionModelRoutes } from '../../api/account/connections/model-routes'
import type { ConnectionModelStore } from '../../api/account/connections/models'
import { connectionRoutes } from '../../api/account/connections/routes'
import type { ConnectionStore } from '../../api/account/connections/store'
import { gatewayRoutes } from '../../api/account/gateways/routes'
import type { GatewayStore } from '../../api/account/gateways/store'
import { handleRoutes } from '../../api/account/handles/routes'
import type { HandleStore } from '../../api/account/handles/store'
import { keyRoutes } from '../../api/account/keys/routes'
import type { OwnKeyStore } from '../../api/account/keys/store'
import { collectionRoutes } from '../../api/account/model-collections/routes'
import type { CollectionStore } from '../../api/account/model-collections/store'
import { catalogueRoutes, type CatalogueStores } from '../../api/account/models/routes'
import { mappingRoutes } from '../../api/account/model-mappings/routes'
import type { MappingStore } from '../../api/account/model-mappings/store'
import { notificationRoutes } from '../../api/account/notifications/routes'
import type { NotificationStore } from '../../api/account/notifications/store'
import {
  invitationRoutes,
  type InvitationStores,
} from '../../api/account/organizations/invitation-routes'
import { organizationRoutes, type OrganizationStores } from '../../api/account/organizations/routes'
import { requestLogRoutes } from '../../api/account/request-logs/routes'
import type { RequestLogStore } from '../../api/account/request-logs/store'
import { settingsRoutes } from '../../api/account/settings/routes'
import type { AccountSettingsStore } from '../../api/account/settings/store'
import { paymentEventRoutes, type PaymentEvents } from '../../api/public/payment-events/routes'
import { promptRoutes } from '../../api/account/prompts/routes'
import type { PromptStore } from '../../api/account/prompts/store'
import { quotaRoutes } from '../../api/account/quota/routes'
import type { QuotaStore } from '../../api/account/quota/store'
import { ticketRoutes } from '../../api/account/support/routes'
import type { TicketStore } from '../../api/account/support/store'
import type { Env } from '../../http/env'
import type { Guards } from '../../http/guards'

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
