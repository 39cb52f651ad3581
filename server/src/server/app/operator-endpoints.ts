import { Hono } from 'hono'
import { brandingRoutes } from '../../api/operator/branding/routes'
import { catalogUpdateRoutes } from '../../api/operator/catalog/routes'
import type { CatalogUpdateStore } from '../../api/operator/catalog/store'
import { configRoutes } from '../../api/operator/config/routes'
import type { ConfigStore } from '../../api/operator/config/store'
import { creditRoutes } from '../../api/operator/credits/routes'
import type { CreditStore } from '../../api/operator/credits/store'
import { adminModelRoutes, type AdminModelStores } from '../../api/operator/models/routes'
import { systemRoutes } from '../../api/operator/system/routes'
import type { LedgerAuditStore } from '../../api/operator/system/ledger-audit'
import type { SystemStore } from '../../api/operator/system/store'
import { planRoutes } from '../../api/operator/plans/routes'
import type { PlanStore } from '../../api/operator/plans/store'
import { providerRoutes } from '../../api/operator/providers/routes'
import type { ProviderStore } from '../../api/operator/providers/store'
import { trailRoutes } from '../../api/operator/audit-log/routes'
import type { TrailStore } from '../../api/operator/audit-log/store'
import { userRoutes } from '../../api/operator/users/routes'
import type { UserStore } from '../../api/operator/users/store'
import { platformConnectionRoutes } from '../../api/operator/connections/routes'
import type { PlatformConnectionStore } from '../../api/operator/connections/store'
import { systemCollectionRoutes } from '../../api/operator/model-collections/routes'
import type { CollectionStore } from '../../api/account/model-collections/store'
import { operatedOrganizationRoutes } from '../../api/operator/organizations/routes'
import type { OperatedOrganizationStore } from '../../api/operator/organizations/store'
import type { BrandingStore } from '../../platform/settings/branding'
import { quotaRequestRoutes } from '../../api/operator/quota/routes'
import type { QuotaRequestStore } from '../../api/account/quota/request-store'
import { supportRoutes } from '../../api/operator/support/routes'
import type { SupportStore } from '../../api/operator/support/store'
import type { Env } from '../../http/env'
import type { Guards } from '../../http/guards'

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
