import { Hono } from 'hono'
import { invoiceRoutes } from '../../api/account/billing/invoice-routes'
import type { InvoiceStore } from '../../api/account/billing/invoice-store'
import { viewRoutes } from '../../api/account/billing/view-routes'
import type { ViewStore } from '../../api/account/billing/view-store'
import { billingRoutes } from '../../api/account/billing/routes'
import type { BillingStore } from '../../api/account/billing/store'
import { alertRoutes } from '../../api/account/alerts/routes'
import type { AlertStore } from '../../api/account/alerts/store'
import { organizationBudgetRoutes } from '../../api/account/budgets/organization-routes'
import type { OrganizationBudgetStore } from '../../api/account/budgets/organization-store'
import { budgetRoutes } from '../../api/account/budgets/routes'
import type { BudgetStore } from '../../api/account/budgets/store'
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
import { auditDestinationRoutes } from '../../api/account/audit-destinations/routes'
import type { OrganizationAuditDestinations } from '../../api/account/audit-destinations/store'
import { personalDataRoutes, type PersonalDataPorts } from '../../api/account/personal-data/routes'
import { destinationRoutes } from '../../api/account/notification-destinations/routes'
import { organizationDestinationRoutes } from '../../api/account/notification-destinations/organization-routes'
import type { OrganizationDestinations } from '../../api/account/notification-destinations/organization-store'
import type { DestinationStore } from '../../api/account/notification-destinations/store'
import { notificationRoutes } from '../../api/account/notifications/routes'
import type { NotificationStore } from '../../api/account/notifications/store'
import {
  invitationRoutes,
  type InvitationStores,
} from '../../api/account/organizations/invitation-routes'
import { organizationRoutes, type OrganizationStores } from '../../api/account/organizations/routes'
import { requestLogRoutes } from '../../api/account/request-logs/routes'
import type { RequestLogStore } from '../../api/account/request-logs/store'
import { scimDirectoryRoutes } from '../../api/account/scim-directories/routes'
import type { ScimDirectoryStore } from '../../api/account/scim-directories/store'
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
import { mount } from '../../http/mount'

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
  invoices: InvoiceStore
  views: ViewStore
  paymentEvents: PaymentEvents
  alerts: AlertStore
  budgets: BudgetStore
  organizationBudgets: OrganizationBudgetStore
  notifications: NotificationStore
  destinations: DestinationStore
  organizationDestinations: OrganizationDestinations
  personalData: PersonalDataPorts
  organizationAuditDestinations: OrganizationAuditDestinations
  keys: OwnKeyStore
  prompts: PromptStore
  scimDirectories: ScimDirectoryStore
  quota: QuotaStore
  tickets: TicketStore
}

/** `/api` for customers. */
export const accountEndpoints = (stores: AccountStores, guards: Guards) =>
  new Hono<Env>()
    .route('/', mount(guards, connectionRoutes(stores.connections)))
    .route('/', mount(guards, connectionModelRoutes(stores.connectionModels)))
    .route('/', mount(guards, poolRoutes(stores.pools)))
    .route('/', mount(guards, gatewayRoutes(stores.gateways)))
    .route('/', mount(guards, invitationRoutes(stores)))
    .route('/', mount(guards, organizationRoutes(stores)))
    .route('/', mount(guards, scimDirectoryRoutes(stores.scimDirectories)))
    .route('/', mount(guards, collectionRoutes(stores.collections)))
    .route('/', mount(guards, mappingRoutes(stores.mappings)))
    .route('/', mount(guards, handleRoutes(stores.handles)))
    .route('/', mount(guards, requestLogRoutes(stores.requestLogs)))
    .route('/', mount(guards, settingsRoutes(stores.accountSettings)))
    .route('/', mount(guards, billingRoutes(stores.billing)))
    .route('/', mount(guards, invoiceRoutes(stores.invoices)))
    .route('/', mount(guards, viewRoutes(stores.views)))
    .route('/', paymentEventRoutes(stores.paymentEvents, guards))
    .route('/', mount(guards, alertRoutes(stores.alerts)))
    .route('/', mount(guards, budgetRoutes(stores.budgets)))
    .route('/', mount(guards, organizationBudgetRoutes(stores.organizationBudgets)))
    .route('/', mount(guards, notificationRoutes(stores.notifications)))
    .route('/', mount(guards, destinationRoutes(stores.destinations)))
    .route('/', mount(guards, organizationDestinationRoutes(stores.organizationDestinations)))
    .route('/', mount(guards, personalDataRoutes(stores.personalData)))
    .route('/', mount(guards, auditDestinationRoutes(stores.organizationAuditDestinations)))
    .route('/', mount(guards, keyRoutes(stores.keys)))
    .route('/', mount(guards, catalogueRoutes(stores)))
    .route('/', mount(guards, promptRoutes(stores.prompts)))
    .route('/', mount(guards, quotaRoutes(stores.quota)))
    .route('/', mount(guards, ticketRoutes(stores.tickets)))
