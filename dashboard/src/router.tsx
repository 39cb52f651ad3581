import type { QueryClient } from '@tanstack/react-query'
import {
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { toAlertSearch } from './alerts'
import { Failure } from './components/failure'
import { Loading } from './components/loading'
import { home, root } from './home-route'
import { billingSearch, overviewSearch, quotaSearch, usageSearch } from './money-search'
import { toInboxSearch } from './inbox'
import { toLogSearch } from './logs'
import { modelParameters } from './models'
import { textsIn } from './address'
import { operatorArea } from './operator/routes'
import { toTicketSearch } from './tickets'

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** Pages for signed-out users. */
const entry = createRoute({ getParentRoute: () => root, id: 'entry', component: Outlet })
const signIn = createRoute({
  getParentRoute: () => entry,
  path: '/sign-in',
  validateSearch: (search) => ({ to: text(search['to']), error: text(search['error']) }),
  component: lazyRouteComponent(() => import('./pages/sign-in'), 'SignInPage'),
})
const signUp = createRoute({
  getParentRoute: () => entry,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./pages/sign-up'), 'SignUpPage'),
})
const forgot = createRoute({
  getParentRoute: () => entry,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages/forgot-password'), 'ForgotPasswordPage'),
})
const reset = createRoute({
  getParentRoute: () => entry,
  path: '/reset-password',
  validateSearch: (search) => ({ token: text(search['token']), error: text(search['error']) }),
  component: lazyRouteComponent(() => import('./pages/reset-password'), 'ResetPasswordPage'),
})

/** All other pages require a session. */
const overview = createRoute({
  getParentRoute: () => home,
  path: '/',
  validateSearch: overviewSearch,
  component: lazyRouteComponent(() => import('./pages/overview'), 'OverviewPage'),
})
const billing = createRoute({
  getParentRoute: () => home,
  path: '/billing',
  validateSearch: billingSearch,
  component: lazyRouteComponent(() => import('./pages/billing'), 'BillingPage'),
})
const usage = createRoute({
  getParentRoute: () => home,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import('./pages/usage'), 'UsagePage'),
})
const quota = createRoute({
  getParentRoute: () => home,
  path: '/quota',
  validateSearch: quotaSearch,
  component: lazyRouteComponent(() => import('./pages/quota'), 'QuotaPage'),
})
const connections = createRoute({
  getParentRoute: () => home,
  path: '/connections',
  component: lazyRouteComponent(() => import('./pages/connections'), 'ConnectionsPage'),
})
const connection = createRoute({
  getParentRoute: () => home,
  path: '/connections/$id',
  component: lazyRouteComponent(() => import('./pages/connection'), 'ConnectionPage'),
})
const pools = createRoute({
  getParentRoute: () => home,
  path: '/pools',
  component: lazyRouteComponent(() => import('./pages/pools'), 'PoolsPage'),
})
const gateways = createRoute({
  getParentRoute: () => home,
  path: '/gateways',
  component: lazyRouteComponent(() => import('./pages/gateways'), 'GatewaysPage'),
})
const gateway = createRoute({
  getParentRoute: () => home,
  path: '/gateways/$id',
  component: lazyRouteComponent(() => import('./pages/gateway'), 'GatewayPage'),
})
const models = createRoute({
  getParentRoute: () => home,
  path: '/models',
  validateSearch: textsIn(...modelParameters),
  component: lazyRouteComponent(() => import('./pages/models'), 'ModelsPage'),
})
const collections = createRoute({
  getParentRoute: () => home,
  path: '/collections',
  validateSearch: textsIn('collection'),
  component: lazyRouteComponent(() => import('./pages/collections'), 'CollectionsPage'),
})
const keys = createRoute({
  getParentRoute: () => home,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys'), 'KeysPage'),
})
const prompts = createRoute({
  getParentRoute: () => home,
  path: '/prompts',
  validateSearch: textsIn('prompt', 'search', 'category', 'tag', 'favorites'),
  component: lazyRouteComponent(() => import('./pages/prompts'), 'PromptsPage'),
})
const organizations = createRoute({
  getParentRoute: () => home,
  path: '/organizations',
  component: lazyRouteComponent(() => import('./pages/organizations'), 'OrganizationsPage'),
})
const organization = createRoute({
  getParentRoute: () => home,
  path: '/organizations/$id',
  validateSearch: textsIn('tab', 'by', 'period', 'who', 'kind', 'from', 'to'),
  component: lazyRouteComponent(() => import('./pages/organization'), 'OrganizationPage'),
})
const playground = createRoute({
  getParentRoute: () => home,
  path: '/playground',
  validateSearch: textsIn('model', 'other', 'chat', 'other_chat'),
  component: lazyRouteComponent(() => import('./pages/playground'), 'PlaygroundPage'),
})
const sessions = createRoute({
  getParentRoute: () => home,
  path: '/sessions',
  validateSearch: textsIn('status', 'open'),
  component: lazyRouteComponent(() => import('./pages/sessions'), 'SessionsPage'),
})
const session = createRoute({
  getParentRoute: () => home,
  path: '/sessions/$id',
  component: lazyRouteComponent(() => import('./pages/session'), 'SessionPage'),
})
const templates = createRoute({
  getParentRoute: () => home,
  path: '/templates',
  component: lazyRouteComponent(() => import('./pages/templates'), 'TemplatesPage'),
})
const settings = createRoute({
  getParentRoute: () => home,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings'), 'SettingsPage'),
})
const mappings = createRoute({
  getParentRoute: () => home,
  path: '/mappings',
  component: lazyRouteComponent(() => import('./pages/mappings'), 'MappingsPage'),
})
const logs = createRoute({
  getParentRoute: () => home,
  path: '/logs',
  validateSearch: toLogSearch,
  component: lazyRouteComponent(() => import('./pages/logs'), 'LogsPage'),
})
const alerts = createRoute({
  getParentRoute: () => home,
  path: '/alerts',
  validateSearch: toAlertSearch,
  component: lazyRouteComponent(() => import('./pages/alerts'), 'AlertsPage'),
})
/** The target of a notification's link. */
const alert = createRoute({
  getParentRoute: () => home,
  path: '/alerts/$id',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/alerts', search: { open: params.id }, replace: true })
  },
})
const inbox = createRoute({
  getParentRoute: () => home,
  path: '/inbox',
  validateSearch: toInboxSearch,
  component: lazyRouteComponent(() => import('./pages/inbox'), 'InboxPage'),
})
const support = createRoute({
  getParentRoute: () => home,
  path: '/support',
  validateSearch: toTicketSearch,
  component: lazyRouteComponent(() => import('./pages/support'), 'SupportPage'),
})
const ticket = createRoute({
  getParentRoute: () => home,
  path: '/support/$id',
  component: lazyRouteComponent(() => import('./pages/ticket'), 'TicketPage'),
})
const security = createRoute({
  getParentRoute: () => home,
  path: '/settings/security',
  component: lazyRouteComponent(() => import('./pages/security'), 'SecurityPage'),
})

const routeTree = root.addChildren([
  entry.addChildren([signIn, signUp, forgot, reset]),
  home.addChildren([
    overview,
    billing,
    usage,
    quota,
    connections,
    connection,
    pools,
    gateways,
    gateway,
    organizations,
    mappings,
    logs,
    alerts,
    alert,
    inbox,
    support,
    ticket,
    models,
    collections,
    keys,
    prompts,
    security,
    organization,
    playground,
    sessions,
    session,
    templates,
    settings,
    operatorArea,
  ]),
])

const errorOf = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)))

/** Creates the router with all pages. */
export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree,
    context: { queries },
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error, reset }) => <Failure error={errorOf(error)} reset={reset} />,
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
  interface HistoryState {
    /** The initial message of the playground. */
    message?: string
  }
}
