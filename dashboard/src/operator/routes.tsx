import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { OperatorArea } from './area'
import { home } from '../home-route'
import { toTrailSearch } from './audit-trail'
import { toConnectionSearch } from './connections'
import { toModelSearch } from './models'
import { toOrganizationSearch } from './organizations'
import { toProviderSearch } from './providers'
import { toDecisionSearch } from './quota-requests'
import { toQueueSearch } from './tickets'
import { toMovementSearch } from './transactions'
import { toUserSearch } from './users'
import { textsIn } from '../address'
import { pageOf, textOf, type Search } from '../search'

/** The open tab of an account page. */
const toAccountSearch = (
  search: Search,
): { tab?: string | undefined; page?: number | undefined } => ({
  tab: textOf(search, 'tab'),
  page: pageOf(search),
})

const operator = createRoute({
  getParentRoute: () => home,
  path: '/operator',
  component: OperatorArea,
})
const start = createRoute({
  getParentRoute: () => operator,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/operator/users', replace: true })
  },
})
const users = createRoute({
  getParentRoute: () => operator,
  path: '/users',
  validateSearch: toUserSearch,
  component: lazyRouteComponent(() => import('../pages/operator/users'), 'UsersPage'),
})

const user = createRoute({
  getParentRoute: () => operator,
  path: '/users/$id',
  validateSearch: toAccountSearch,
  component: lazyRouteComponent(() => import('../pages/operator/user'), 'UserPage'),
})
const transactions = createRoute({
  getParentRoute: () => operator,
  path: '/transactions',
  validateSearch: toMovementSearch,
  component: lazyRouteComponent(() => import('../pages/operator/transactions'), 'TransactionsPage'),
})
const plans = createRoute({
  getParentRoute: () => operator,
  path: '/plans',
  component: lazyRouteComponent(() => import('../pages/operator/plans'), 'PlansPage'),
})
const organizations = createRoute({
  getParentRoute: () => operator,
  path: '/organizations',
  validateSearch: toOrganizationSearch,
  component: lazyRouteComponent(
    () => import('../pages/operator/organizations'),
    'OperatedOrganizationsPage',
  ),
})
const organization = createRoute({
  getParentRoute: () => operator,
  path: '/organizations/$id',
  validateSearch: toAccountSearch,
  component: lazyRouteComponent(
    () => import('../pages/operator/organization'),
    'OperatedOrganizationPage',
  ),
})
const tickets = createRoute({
  getParentRoute: () => operator,
  path: '/tickets',
  validateSearch: toQueueSearch,
  component: lazyRouteComponent(() => import('../pages/operator/tickets'), 'TicketsPage'),
})
const ticket = createRoute({
  getParentRoute: () => operator,
  path: '/tickets/$id',
  component: lazyRouteComponent(() => import('../pages/operator/ticket'), 'HandledTicketPage'),
})
const quotaRequests = createRoute({
  getParentRoute: () => operator,
  path: '/quota-requests',
  validateSearch: toDecisionSearch,
  component: lazyRouteComponent(
    () => import('../pages/operator/quota-requests'),
    'QuotaRequestsPage',
  ),
})

const system = createRoute({
  getParentRoute: () => operator,
  path: '/system',
  component: lazyRouteComponent(() => import('../pages/operator/system'), 'SystemPage'),
})
const providers = createRoute({
  getParentRoute: () => operator,
  path: '/providers',
  validateSearch: toProviderSearch,
  component: lazyRouteComponent(() => import('../pages/operator/providers'), 'ProvidersPage'),
})
const models = createRoute({
  getParentRoute: () => operator,
  path: '/models',
  validateSearch: toModelSearch,
  component: lazyRouteComponent(() => import('../pages/operator/models'), 'OperatedModelsPage'),
})
const connections = createRoute({
  getParentRoute: () => operator,
  path: '/connections',
  validateSearch: toConnectionSearch,
  component: lazyRouteComponent(
    () => import('../pages/operator/connections'),
    'PlatformConnectionsPage',
  ),
})
const collections = createRoute({
  getParentRoute: () => operator,
  path: '/collections',
  validateSearch: textsIn('collection'),
  component: lazyRouteComponent(
    () => import('../pages/operator/collections'),
    'SystemCollectionsPage',
  ),
})
const branding = createRoute({
  getParentRoute: () => operator,
  path: '/branding',
  component: lazyRouteComponent(() => import('../pages/operator/branding'), 'BrandingPage'),
})
const config = createRoute({
  getParentRoute: () => operator,
  path: '/config',
  component: lazyRouteComponent(() => import('../pages/operator/config'), 'ConfigPage'),
})

const auditTrail = createRoute({
  getParentRoute: () => operator,
  path: '/audit-trail',
  validateSearch: toTrailSearch,
  component: lazyRouteComponent(() => import('../pages/operator/audit-trail'), 'AuditTrailPage'),
})

/** The operator routes. */
export const operatorArea = operator.addChildren([
  start,
  users,
  user,
  transactions,
  plans,
  organizations,
  organization,
  tickets,
  ticket,
  quotaRequests,
  system,
  providers,
  models,
  connections,
  collections,
  branding,
  config,
  auditTrail,
])
