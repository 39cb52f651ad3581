import { Hono } from 'hono'
import { brandingRoutes } from '../api/admin-branding/routes'
import { catalogUpdateRoutes } from '../api/admin-catalog/routes'
import type { CatalogUpdateStore } from '../api/admin-catalog/store'
import { configRoutes } from '../api/admin-config/routes'
import type { ConfigStore } from '../api/admin-config/store'
import { creditRoutes } from '../api/admin-credits/routes'
import type { CreditStore } from '../api/admin-credits/store'
import { adminModelRoutes, type AdminModelStores } from '../api/admin-models/routes'
import { systemRoutes } from '../api/admin-system/routes'
import type { LedgerAuditStore } from '../api/admin-system/ledger-audit'
import type { SystemStore } from '../api/admin-system/store'
import { planRoutes } from '../api/admin-plans/routes'
import type { PlanStore } from '../api/admin-plans/store'
import { providerRoutes } from '../api/admin-providers/routes'
import type { ProviderStore } from '../api/admin-providers/store'
import { trailRoutes } from '../api/admin-trail/routes'
import type { TrailStore } from '../api/admin-trail/store'
import { userRoutes } from '../api/admin-users/routes'
import type { UserStore } from '../api/admin-users/store'
import { platformConnectionRoutes } from '../api/connections/platform-routes'
import type { PlatformConnectionStore } from '../api/connections/platform-store'
import { systemCollectionRoutes } from '../api/model-collections/admin-routes'
import type { CollectionStore } from '../api/model-collections/store'
import { operatedOrganizationRoutes } from '../api/organizations/admin-routes'
import type { OperatedOrganizationStore } from '../api/organizations/admin-store'
import type { BrandingStore } from '../settings/branding'
import { quotaRequestRoutes } from '../api/quota/admin-routes'
import type { QuotaRequestStore } from '../api/quota/request-store'
import { supportRoutes } from '../api/support/admin-routes'
import type { SupportStore } from '../api/support/admin-store'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'

export interface OperatorStores extends AdminModelStores {
  config: ConfigStore
  catalogUpdates: CatalogUpdateStore
  branding: BrandingStore
  operatedOrganizations: OperatedOrganizationStore
  users: UserStore
  plans: PlanStore
  credits: CreditStore
  providers: ProviderStore
  system: SystemStore
  ledgerAudit: LedgerAuditStore
  platformConnections: PlatformConnectionStore
  collections: CollectionStore
  quotaRequests: QuotaRequestStore
  support: SupportStore
  trail: TrailStore
}

/** `/api/admin`. */
export const operatorEndpoints = (stores: OperatorStores, guards: Guards) =>
  new Hono<Env>()
    .route('/', configRoutes(stores.config, guards))
    .route('/', brandingRoutes(stores.branding, guards))
    .route('/', operatedOrganizationRoutes(stores.operatedOrganizations, guards))
    .route('/', userRoutes(stores.users, guards))
    .route('/', planRoutes(stores.plans, guards))
    .route('/', creditRoutes(stores.credits, guards))
    .route('/', providerRoutes(stores.providers, guards))
    .route('/', adminModelRoutes(stores, guards))
    .route('/', catalogUpdateRoutes(stores.catalogUpdates, guards))
    .route('/', platformConnectionRoutes(stores.platformConnections, guards))
    .route('/', systemCollectionRoutes(stores.collections, guards))
    .route('/', quotaRequestRoutes(stores.quotaRequests, guards))
    .route('/', supportRoutes(stores.support, guards))
    .route('/', trailRoutes(stores.trail, guards))
    .route('/', systemRoutes(stores, guards))

/** The types of these routes, for typed clients. */
export type OperatorApi = ReturnType<typeof operatorEndpoints>
